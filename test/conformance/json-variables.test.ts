import { createRestConnector, useRestConnector } from '@vinyasa/rest-connector'
import { startRestBackend } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { createYoga, type Plugin } from 'graphql-yoga'
import { expect, it } from 'vitest'

/** Numbers as clients write them: any double, and integers around the limits and with up to 40 digits. */
const NUMBERS = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
  fc.bigInt({ min: -(2n ** 54n), max: 2n ** 54n }).map(String),
  fc.bigInt({ min: 2n ** 53n - 20n, max: 2n ** 53n + 20n }).map(String),
  fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String),
  fc
    .tuple(fc.integer({ min: 1, max: 99 }), fc.integer({ min: 14, max: 30 }), fc.integer({ min: 0, max: 9 }))
    .map(([head, zeros, tail]) => `${head}${'0'.repeat(zeros)}${tail}`),
)
const COUNT = 10_000

it('sends numbers of JSON variables as it sends literals, or refuses them', async () => {
  await using backend = await startRestBackend()
  const connector = createRestConnector('echo', {
    baseUrl: backend.url,
    endpoints: [{ name: 'echo', method: 'POST', path: '/', asQuery: true, args: { json: 'JSON' } }],
  })
  const yoga = createYoga({ logging: false, plugins: [useRestConnector(connector) as Plugin] })

  async function ask(query: string, variables: string): Promise<readonly string[]> {
    const response = await yoga.fetch('http://x/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"query":${JSON.stringify(query)},"variables":${variables}}`,
    })
    const { errors = [] } = (await response.json()) as { errors?: readonly { message: string }[] }
    return errors.map(({ message }) => message)
  }

  /** What the backend gets, as text. */
  async function sent(query: string, variables = '{}'): Promise<string | undefined> {
    expect(await ask(query, variables)).toEqual([])
    return backend.requests.at(-1)?.body.toString()
  }

  const numbers = fc.sample(NUMBERS, { numRuns: COUNT, seed: 1 })
  const query = 'query ($json: JSON) { echo(json: $json) }'
  const isSafe = (text: string): boolean =>
    !Number.isInteger(Number(text)) || Number.isSafeInteger(Number(text))
  const safe = numbers.filter(isSafe)
  const unsafe = numbers.filter((text) => !isSafe(text))
  expect(Math.min(safe.length, unsafe.length)).toBeGreaterThan(COUNT / 10)
  expect(await sent(query, `{"json":[${safe.join(',')}]}`)).toBe(
    await sent(`{ echo(json: [${safe.join(',')}]) }`),
  )
  const places = ['#', '[1, #]', '{ "a": { "b": [#] } }'] as const
  const requests = backend.requests.length
  // Not more at once than the errors that one answer has.
  for (let from = 0; from < unsafe.length; from += 40) {
    const some = unsafe.slice(from, from + 40)
    const given = some.map((text, at) => `"v${at}": ${(places[at % 3] as string).replace('#', text)}`)
    const declared = some.map((_, at) => `$v${at}: JSON`).join(' ')
    const fields = some.map((_, at) => `e${at}: echo(json: $v${at})`).join(' ')
    const messages = await ask(`query (${declared}) { ${fields} }`, `{ ${given.join(', ')} }`)
    expect(messages.filter((message) => message.includes('2^53'))).toHaveLength(some.length)
  }
  expect(backend.requests).toHaveLength(requests)
  for (const text of unsafe.slice(0, 100).filter((one) => /^-?\d+$/.test(one)))
    expect(await sent(`{ echo(json: [${text}]) }`)).toBe(`{"json":[${text}]}`)
})
