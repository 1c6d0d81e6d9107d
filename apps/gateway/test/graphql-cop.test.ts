import { describe, expect, it } from 'vitest'
import { OWN_SCHEMA, post, startGateway } from './support/gateway.ts'

interface Answer {
  readonly status: number
  readonly text: string
  /** The body as JSON; undefined when it is none. */
  readonly json: any
}

interface Check {
  readonly name: string
  readonly send: (endpoint: string) => Promise<Response>
  /** What the tool calls a finding. */
  readonly found: (answer: Answer) => boolean
}

const GET = (endpoint: string, query: string): Promise<Response> =>
  fetch(`${endpoint}?${new URLSearchParams({ query }).toString()}`)
const html = (url: string): Promise<Response> => fetch(url, { headers: { accept: 'text/html' } })
const times = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ')
const isIde = ({ text }: Answer): boolean => /graphiql|playground|apollo sandbox|altair/i.test(text)

/** The checks of the public auditing tool graphql-cop, and what each calls a finding, as requests of our own. */
const CHECKS: readonly Check[] = [
  {
    name: 'suggestions of field names',
    send: (url) => post(url, { query: 'query cop { __schema { directive } }' }),
    found: ({ text }) => text.includes('Did you mean'),
  },
  {
    name: 'introspection',
    send: (url) => post(url, { query: 'query cop { __schema { types { name fields { name } } } }' }),
    found: ({ json }) => Boolean(json?.data?.__schema?.types),
  },
  {
    name: 'an IDE on the endpoint',
    send: html,
    found: isIde,
  },
  {
    name: 'an IDE beside the endpoint',
    send: (url) => html(new URL('/', url).href),
    found: isIde,
  },
  {
    name: 'queries by GET',
    send: (url) => GET(url, 'query cop { __typename }'),
    found: ({ json }) => Boolean(json?.data?.__typename),
  },
  {
    name: 'mutations by GET',
    send: (url) => GET(url, 'mutation cop { __typename }'),
    found: ({ json }) => Boolean(json?.data?.__typename),
  },
  {
    name: 'url-encoded queries by POST',
    send: (url) =>
      fetch(url, { method: 'POST', body: new URLSearchParams({ query: 'query cop { __typename }' }) }),
    found: ({ json }) => Boolean(json?.data?.__typename),
  },
  {
    name: '101 aliases',
    send: (url) => post(url, { query: `query cop { ${times(101, (i) => `alias${i}:__typename`)} }` }),
    found: ({ json }) => Boolean(json?.data?.alias100),
  },
  {
    name: 'ten operations in one request',
    send: (url) =>
      post(
        url,
        Array.from({ length: 10 }, () => ({ query: 'query cop { __typename }' })),
      ),
    found: ({ json }) => Array.isArray(json) && json.length >= 10,
  },
  {
    name: 'ten directives at one location',
    send: (url) => post(url, { query: `query cop { __typename ${'@aa'.repeat(10)} }` }),
    found: ({ json }) => json?.errors?.length === 10,
  },
  {
    name: 'circular introspection',
    send: (url) =>
      post(url, {
        query: `query cop { __schema { types ${'{ fields { type '.repeat(5)}{ name }${' } }'.repeat(5)} } }`,
      }),
    found: ({ json }) => Boolean(json?.data?.__schema?.types),
  },
  {
    name: 'one field 500 times',
    send: (url) => post(url, { query: `query cop { ${times(500, () => '__typename')} }` }),
    found: ({ json }) => Boolean(json?.data?.__typename),
  },
  {
    name: 'tracing in answers',
    send: (url) => post(url, { query: 'query cop { __typename }' }),
    found: ({ json }) =>
      json?.extensions?.tracing !== undefined || json?.errors?.[0]?.extensions?.tracing !== undefined,
  },
  {
    name: 'details of exceptions',
    send: (url) => post(url, { query: 'qwerty cop { abc }' }),
    found: ({ status, json }) => status >= 500 || json?.errors?.[0]?.extensions?.exception !== undefined,
  },
]

async function run(check: Check, endpoint: string): Promise<boolean> {
  const response = await check.send(endpoint)
  const text = await response.text()
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    json = undefined
  }
  return check.found({ status: response.status, text, json })
}

describe('the 14 checks of graphql-cop', () => {
  it.each(CHECKS)('production preset: $name is no finding', async (check) => {
    const { endpoint } = await startGateway({ preset: 'production', ...OWN_SCHEMA })
    expect(await run(check, endpoint)).toBe(false)
  })

  it('the checks can find something: with every guard off they do', async () => {
    const { endpoint } = await startGateway({
      ...OWN_SCHEMA,
      graphql: {
        batching: 10,
        limits: {
          maxDepth: 0,
          maxTokens: 0,
          maxAliases: 0,
          maxDuplicateFields: 0,
        },
      },
    })
    const found: string[] = []
    for (const check of CHECKS) if (await run(check, endpoint)) found.push(check.name)
    // Yoga has no tracing, no exception details, no mutations by GET, and its IDE only on the endpoint;
    // graphql itself limits the depth of introspection.
    expect(found).toEqual([
      'suggestions of field names',
      'introspection',
      'an IDE on the endpoint',
      'queries by GET',
      'url-encoded queries by POST',
      '101 aliases',
      'ten operations in one request',
      'ten directives at one location',
      'one field 500 times',
    ])
  })
})
