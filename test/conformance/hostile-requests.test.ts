import { connect } from 'node:net'
import { createDisposables, createRandom } from '@vinyasa/test-kit'
import { serverAudits } from 'graphql-http'
import type { Plugin } from 'graphql-yoga'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OWN_SCHEMA } from '../../apps/gateway/test/support/gateway.ts'
import { createGateway } from '../../apps/gateway/src/gateway.ts'
import { createLogger } from '../../apps/gateway/src/logging/logger.ts'
import { serve } from '../../apps/gateway/src/server.ts'
import { hostileRequests } from '../faults/hostile/requests.ts'

/** A plugin that wraps the request sends every one through Yoga's own door. */
const DOORS = [
  ['the fast path', [] as Plugin[]],
  [
    "Yoga's own door",
    [{ instrumentation: { request: (_: unknown, wrapped: () => void) => wrapped() } }] as Plugin[],
  ],
] as const

const CSRF = { 'x-graphql-csrf': '1' }
const repeat = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ')
const nested = (levels: number): string => `${'item { '.repeat(levels - 1)}id${' }'.repeat(levels - 1)}`

interface Vector {
  readonly name: string
  /** Refused. */
  readonly over: string
  /** The largest that passes. */
  readonly within: string
}

/** What the test suites of graphql-armor's plugins send, with the limits of the production preset. */
const VECTORS: readonly Vector[] = [
  {
    name: 'max-aliases',
    over: `{ ${repeat(31, (n) => `a${n}: hello`)} }`,
    within: `{ ${repeat(30, (n) => `a${n}: hello`)} }`,
  },
  {
    name: 'max-aliases, of __typename',
    over: `{ ${repeat(31, (n) => `a${n}: __typename`)} }`,
    within: `{ ${repeat(30, (n) => `a${n}: __typename`)} }`,
  },
  {
    name: 'max-aliases, in a fragment',
    over: `{ ...f } fragment f on Query { ${repeat(31, (n) => `a${n}: hello`)} }`,
    within: `{ ...f } fragment f on Query { ${repeat(30, (n) => `a${n}: hello`)} }`,
  },
  { name: 'max-depth', over: `{ ${nested(16)} }`, within: `{ ${nested(8)} }` },
  {
    name: 'max-depth, by fragments',
    over: `{ ...a } fragment a on Query { ${nested(10).replace('id', '...b')} } fragment b on Item { ${nested(7)} }`,
    within: '{ ...a } fragment a on Query { item { ...b } } fragment b on Item { item { secretName } }',
  },
  {
    name: 'max-depth, by inline fragments',
    over: `{ ${'item { ... on Item { '.repeat(15)}id${' } }'.repeat(15)} }`,
    within: `{ ${'item { ... on Item { '.repeat(6)}id${' } }'.repeat(6)} }`,
  },
  {
    name: 'cost-limit',
    over: `{ ${repeat(30, (n) => `a${n}: item { ${nested(13)} }`)} }`,
    within: '{ item { id item { secretName } } }',
  },
  {
    name: 'max-directives',
    over: `{ hello ${repeat(6, () => '@include(if: true)')} }`,
    within: '{ hello @include(if: true) @skip(if: false) }',
  },
  {
    name: 'max-directives, unknown ones',
    over: `{ hello ${repeat(1000, () => '@x')} }`,
    within: '{ hello @include(if: true) }',
  },
  {
    name: 'max-tokens',
    over: `{ ${repeat(1001, (n) => `f${n}`)} }`,
    within: `{ ${repeat(20, () => 'hello')} }`,
  },
  {
    name: 'character-limit',
    over: `{ ${repeat(5000, () => 'hello')} }`,
    within: `{ hello } # ${'x'.repeat(1000)}`,
  },
  {
    name: 'a fragment that spreads itself',
    over: '{ ...a } fragment a on Query { hello ...a }',
    within: '{ ...a } fragment a on Query { hello }',
  },
  {
    name: 'two fragments that spread each other',
    over: '{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }',
    within: '{ ...a } fragment a on Query { ...b } fragment b on Query { hello }',
  },
]

/** Where code lies, how it is called, and what it threw: nothing of that is for clients. */
const INSIDE =
  /node_modules|node:(?:internal|_http|events|net)|\n\s+at |\.[cm]?[jt]s[:)\b]|file:\/\/|\/(?:home|root|usr|tmp|var|opt)\/|"stack"|originalError|[A-Z][a-z]+Error:|graphql-yoga|whatwg|envelop|@vinyasa|undici|RangeError|Maximum call stack|Invalid URL|position \d+/

describe.each(DOORS)('the production preset behind %s', (_door, plugins) => {
  const disposables = createDisposables(afterAll)
  let url = ''
  let closedUrl = ''

  async function open(introspection: boolean | undefined): Promise<string> {
    const logger = await createLogger({ level: 'silent' })
    const config = { preset: 'production', plugins, graphql: { introspection }, ...OWN_SCHEMA } as const
    const gateway = await createGateway(config, { baseDirectory: '/', logger })
    const server = await serve(gateway, { port: 0, logger })
    disposables.use(() => server.close({ graceMs: 100 }))
    return server.url
  }

  beforeAll(async () => {
    // The audits of variables ask for a type of the schema.
    url = await open(true)
    closedUrl = await open(undefined)
  })

  const ask = async (query: string, at = url): Promise<{ status: number; text: string }> => {
    const response = await fetch(`${at}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    })
    return { status: response.status, text: await response.text() }
  }

  const audits = serverAudits({
    url: () => `${url}/graphql`,
    fetchFn: (input: string, init: RequestInit = {}) =>
      fetch(input, { ...init, headers: { ...(init.headers as object), ...CSRF } }),
  })
  it.each(audits.map((audit) => [audit.id, audit.name, audit] as const))(
    'graphql-http audit %s: %s',
    async (_id, _name, audit) => {
      expect(await audit.fn()).toMatchObject({ status: 'ok' })
    },
  )

  it.each(VECTORS)('$name: over the limit refused, within it answered', async ({ over, within }) => {
    const refused = await ask(over)
    expect(JSON.parse(refused.text)).toMatchObject({ errors: [{ message: expect.any(String) }] })
    expect(JSON.parse(refused.text).data).toBeUndefined()
    expect(refused.text).not.toMatch(INSIDE)
    expect(JSON.parse((await ask(within)).text)).toEqual({ data: expect.anything() })
  })

  it.each([
    '{ helo }',
    '{ item { secretNam } }',
    '{ echo(txt: "a") }',
    '{ echo(color: REDD) }',
    '{ ...x on Itm { id } }',
  ])('block-field-suggestions: %s', async (query) => {
    const { text } = await ask(query, closedUrl)
    expect(text).toContain('"errors"')
    expect(text).not.toMatch(/did you mean/i)
  })

  it('no answer to any request of the hostile corpus tells of the inside', async () => {
    const { hostname, port } = new URL(url)
    const answers: { readonly bytes: Buffer; readonly answer: string }[] = []
    async function sendSome(first: number): Promise<void> {
      for (let turn = first; turn < 400; turn += 20) {
        const bytes = hostileRequests(createRandom(7, `answers ${turn}`))
        answers.push({ bytes, answer: await answerTo(bytes) })
      }
    }
    function answerTo(bytes: Buffer): Promise<string> {
      return new Promise((resolve) => {
        const socket = connect(Number(port), hostname).on('error', () => {})
        let answer = ''
        const timer = setTimeout(() => socket.destroy(), 1_500)
        socket.setEncoding('latin1').on('data', (part: string) => {
          answer += part
          setTimeout(() => socket.destroy(), 50)
        })
        socket.once('close', () => {
          clearTimeout(timer)
          resolve(answer)
        })
        socket.write(bytes)
      })
    }
    await Promise.all(Array.from({ length: 20 }, (_, first) => sendSome(first)))
    expect(answers.filter(({ answer }) => answer !== '').length).toBeGreaterThan(300)
    const telling = answers.filter(({ answer }) => INSIDE.test(answer))
    expect(
      telling.map(({ bytes, answer }) => `${bytes.toString('latin1').slice(0, 300)}\n=>\n${answer}`),
    ).toEqual([])
    // HTTP 5xx is an answer to nothing that a client sends.
    const failed = answers.filter(({ answer }) => /^HTTP\/1\.1 5(?!03)/m.test(answer))
    expect(failed.map(({ bytes }) => bytes.toString('latin1').slice(0, 300))).toEqual([])
  })
})
