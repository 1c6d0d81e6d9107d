import { connect } from 'node:net'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Accept, ACCEPTS, type Asked, bytesOf, exchange, inTurns, openDoors } from './deferred-doors.ts'

// Deferred queries on the prepared path of node-handler: the bytes that Yoga's own door sends, whatever was asked before.

const QUERIES: readonly Asked[] = [
  { query: '{ fast ... @defer { late } }' },
  { query: '{ fast ... @defer(label: "a") { late } }' },
  { query: '{ fast ... @defer { again: fast } }' },
  { query: '{ ... @defer { late } }' },
  { query: '{ late ... @defer { fast more: late(turns: 9) } }' },
  { query: '{ items { id ... @defer { price } } }' },
  { query: '{ items { id ... @defer { late item { id ... @defer { price } } } } }' },
  { query: '{ fast ... @defer { required } }' },
  { query: '{ fast ... @defer { late lateRequired } }' },
  { query: '{ fast ... @defer { late fails } }' },
  { query: '{ item { id ... @defer { fails } } ... @defer { late(turns: 9) } }' },
  { query: '{ fails fast ... @defer { late } }' },
  { query: '{ fails(turns: 2) fast ... @defer { late(turns: 9) } }' },
  { query: '{ required ... @defer { late } }' },
  { query: '{ lateRequired ... @defer { late } }' },
  { query: '{ big(letters: 90000) ... @defer { more: big(letters: 90000) } }' },
  { query: 'query ($yes: Boolean!) { fast ... @defer(if: $yes) { late } }', variables: { yes: true } },
  { query: 'query ($yes: Boolean!) { fast ... @defer(if: $yes) { late } }', variables: { yes: false } },
  { query: 'query ($yes: Boolean!) { fast ... @defer(if: $yes) { late } }', variables: {} },
  { query: 'query ($n: Int) { fast ... @defer { late(turns: $n) } }', variables: { n: 5 } },
  { query: 'query ($n: Int) { fast ... @defer { late(turns: $n) } }', variables: { n: 'x' } },
  { query: 'query A { fast ... @defer { late } } query B { fast }', operationName: 'A' },
  { query: 'query A { fast ... @defer { late } } query B { fast }', operationName: 'B' },
  { query: 'query A { fast ... @defer { late } } query B { fast }', operationName: 'C' },
  { query: 'fragment F on Query { late } { fast ...F @defer }' },
  {
    query:
      '{ fast ...@defer{a:fast} ...@defer{b:fast} ...@defer{c:fast} ...@defer{d:fast} ...@defer{e:fast} }',
  },
  { query: '{ fast ... @defer { nope } }' },
  { query: '{ items @stream(initialCount: 1) { id } }' },
  { query: 'mutation { change { id ... @defer { price } } }' },
  { query: '{ fast }' },
]
const PARTS = ACCEPTS.slice(0, 5)

describe.each([
  ['POST', '/graphql'],
  ['GET', '/graphql'],
  ['POST', '/graphql/defer'],
  ['POST', '/graphql/defer?a=b'],
] as const)('by %s %s', (method, path) => {
  it.each(QUERIES)(
    'the thin door sends the bytes of Yoga’s, however often it was asked: $query $variables',
    async (asked) => {
      const doors = await openDoors(method === 'POST')
      for (const accept of ACCEPTS) {
        const bytes = bytesOf(asked, { accept, method, path })
        const yoga = await exchange(doors.yoga, bytes)
        for (const time of [1, 2, 3])
          expect({ accept, time, sent: await exchange(doors.thin, bytes) }).toEqual({
            accept,
            time,
            sent: yoga,
          })
      }
    },
  )
})

describe('what takes the prepared path', () => {
  const goes: readonly (readonly [query: string, parts: number])[] = [
    ['{ fast ... @defer { late } }', 2],
    ['{ fast ... @defer { again: fast } }', 2],
    ['{ fast ... @defer { late fails } }', 2],
    ['{ items { id ... @defer { price } } }', 2],
    // Written by the hooks.
    ['{ fails fast ... @defer { late } }', 2],
    ['{ required ... @defer { late } }', 0],
  ]
  it('a request to the path for deferred results', async () => {
    const { thin, behindThin } = await openDoors()
    for (const time of [1, 2, 3]) {
      await exchange(thin, bytesOf({ query: '{ fast ... @defer { late } }' }, { path: '/graphql/defer' }))
      expect(behindThin.short).toHaveLength(time - 1)
    }
  })

  it.each(goes)('%s, in %d parts', async (query, parts) => {
    for (const accept of PARTS) {
      const { thin, behindThin } = await openDoors()
      for (const time of [1, 2, 3]) {
        await exchange(thin, bytesOf({ query }, { accept }))
        expect(behindThin.short).toHaveLength(time - 1)
      }
      expect(behindThin.parts).toHaveLength(3 * parts)
    }
  })

  it.each([
    ['multipart/mixed;q=0.5, application/json;q=0.6', true],
    ['multipart/mixed;q=0, application/json', true],
    ['application/graphql-response+json, application/json;q=0.9', true],
    ['*/*', true],
    ['multipart/mixed;deferSpec=20991231', true],
    ['multipart/mixed, text/html', true],
  ] as const)('%s: %s', async (accept, takes) => {
    const { thin, behindThin } = await openDoors()
    const query = '{ fast ... @defer { late } }'
    await exchange(thin, bytesOf({ query }, { accept: 'multipart/mixed' }))
    await exchange(thin, bytesOf({ query }, { accept }))
    expect(behindThin.short).toHaveLength(takes ? 1 : 0)
  })

  it('what differs in values alone has the places of what was sent', async () => {
    const doors = await openDoors()
    for (let turns = 5; turns < 15; turns++) {
      const query = `{ item { late(turns: ${turns}) } ... @defer { fails(turns: 1) } }`
      const bytes = bytesOf({ query }, { accept: 'multipart/mixed' })
      const yoga = await exchange(doors.yoga, bytes)
      expect(yoga).toContain('"locations"')
      expect(await exchange(doors.thin, bytes)).toBe(yoga)
    }
  })

  it('shows the parts to the plugins that look at them', async () => {
    const { thin, behindThin } = await openDoors()
    for (const _time of [1, 2])
      await exchange(thin, bytesOf({ query: '{ fast ... @defer { fails } }' }, { accept: 'multipart/mixed' }))
    const parts = [
      { data: { fast: 'fast "ü"' }, hasNext: true },
      { incremental: [{ data: { fails: null }, errors: [{ message: 'a secret' }] }], hasNext: false },
    ]
    expect(behindThin.parts).toMatchObject([...parts, ...parts])
  })
})

const DEFERRED = { query: '{ fast ... @defer { late } }' }
const known = async (door: string, asked: Asked, accept: Accept): Promise<void> => {
  for (const _time of [1, 2]) await exchange(door, bytesOf(asked, { accept }))
}

describe('the connection', () => {
  const accept = 'multipart/mixed'

  it('serves HTTP/1.0', async () => {
    const doors = await openDoors()
    await known(doors.thin, DEFERRED, accept)
    for (const keepAlive of [true, false]) {
      const bytes = bytesOf(DEFERRED, { accept, version: '1.0', keepAlive })
      expect(await exchange(doors.thin, bytes)).toBe(await exchange(doors.yoga, bytes))
    }
    expect(doors.behindThin.short).toHaveLength(3)
  })

  it('is kept, for a plain query, a HEAD and another deferred one', async () => {
    const doors = await openDoors()
    await known(doors.thin, DEFERRED, accept)
    const requests = [
      bytesOf(DEFERRED, { accept, keepAlive: true }),
      bytesOf({ query: '{ fast }' }, { accept, keepAlive: true }),
      bytesOf(DEFERRED, { accept, method: 'HEAD', keepAlive: true }),
      bytesOf(DEFERRED, { accept, method: 'GET' }),
    ]
    const bytes = Buffer.concat(requests)
    const expected = await exchange(doors.yoga, bytes)
    expect(await exchange(doors.thin, bytes)).toBe(expected)
    expect(await exchange(doors.thin, bytes)).toBe(expected)
  })

  it.each(['yoga', 'thin'] as const)('lost in the middle ends the rest: %s', async (door) => {
    const doors = await openDoors()
    const seen = door === 'yoga' ? doors.behindYoga : doors.behindThin
    const bytes = bytesOf({ query: '{ fast ... @defer { never } }' }, { accept })
    for (const time of [1, 2, 3]) {
      const socket = connect(Number(doors[door]), '127.0.0.1')
      socket.on('error', () => {})
      socket.write(bytes)
      await new Promise((resolve) => socket.once('data', resolve))
      await inTurns(20)
      socket.destroy()
      await expect.poll(() => seen.left).toBe(time)
    }
    expect(seen.short).toHaveLength(door === 'thin' ? 2 : 0)
  })
})

it('sends the same for documents that nobody wrote', { timeout: 60_000 }, async () => {
  const bothDoors = [await openDoors(true), await openDoors(false)]
  const leaf = fc.constantFrom('fast', 'late', 'late(turns: 2)', 'fails', 'b: fast', '__typename', 'required')
  const inItem = fc.constantFrom('id', 'price', 'late', 'fails', 'item { id ... @defer { price late } }')
  const wrapped = (inner: fc.Arbitrary<string>): fc.Arbitrary<string> =>
    fc
      .tuple(
        fc.constantFrom('@defer', '@defer', '@defer(label: "a")', '@defer(if: $yes)', ''),
        fc.array(inner, { minLength: 1, maxLength: 3 }),
      )
      .map(([directive, selected]) => `... ${directive} { ${selected.join(' ')} }`)
  const item = fc
    .tuple(fc.constantFrom('item', 'items'), inItem, wrapped(inItem))
    .map(([name, first, rest]) => `${name} { ${first} ${rest} }`)
  const document = fc
    .tuple(
      fc.array(fc.oneof(leaf, item), { minLength: 1, maxLength: 3 }),
      fc.array(wrapped(fc.oneof(leaf, item)), { maxLength: 1 }),
    )
    .map(([first, rest]) => `query ($yes: Boolean = true) { ${[...first, ...rest].join(' ')} }`)
  const sending = fc.record({
    accept: fc.constantFrom(...ACCEPTS),
    method: fc.constantFrom('POST' as const, 'GET' as const),
  })
  const variables = fc.constantFrom({}, { yes: true }, { yes: false })
  await fc.assert(
    fc.asyncProperty(document, variables, sending, async (query, given, how) => {
      const bytes = bytesOf({ query, variables: given }, how)
      for (const doors of bothDoors) {
        const yoga = await exchange(doors.yoga, bytes)
        for (const _time of [1, 2]) expect(await exchange(doors.thin, bytes)).toBe(yoga)
      }
    }),
    { numRuns: 150 },
  )
})
