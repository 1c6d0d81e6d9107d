import { type FieldNode, GraphQLError, type ValidationContext, type ValidationRule } from 'graphql'
import { createSchema, createYoga, type Plugin, type YogaServerOptions } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import { type Behaviour, usePipeline } from '../../src/pipeline/index.ts'

const typeDefs = /* GraphQL */ `
  type Query {
    hello: String
    rooted: String
    fails: String
  }
  type Mutation {
    change: String
  }
  type Subscription {
    ticks: Int
  }
`

const resolvers = {
  Query: {
    hello: () => 'world',
    rooted: (root: { readonly name?: string } | undefined) => root?.name ?? 'none',
    fails: () => {
      throw new Error('a secret')
    },
  },
  Mutation: { change: () => 'changed' },
  Subscription: {
    ticks: {
      async *subscribe() {
        for (const ticks of [1, 2]) yield { ticks }
      },
    },
  },
}

interface AddsRules {
  addValidationRule(rule: ValidationRule): void
}

type Options = Pick<YogaServerOptions<object, object>, 'parserAndValidationCache' | 'maskedErrors'>

function serverOf(plugins: readonly object[], options: Options = {}) {
  const yoga = createYoga({
    ...options,
    logging: false,
    schema: createSchema({ typeDefs, resolvers }),
    plugins: [...plugins, usePipeline()] as Plugin[],
  })
  const url = 'http://localhost/graphql'
  return {
    async post(query: string, accept = 'application/json'): Promise<string> {
      const headers = { 'content-type': 'application/json', accept }
      const response = await yoga.fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) })
      return response.text()
    },
    async get(query: string): Promise<string> {
      const response = await yoga.fetch(`${url}?query=${encodeURIComponent(query)}`)
      return `${response.status} ${await response.text()}`
    },
  }
}

/** The first time is for a new document, the others are for a cached document. */
const TIMES = [1, 2, 3]

it.each(['{ hello }', 'mutation { change }', 'subscription { ticks }'])(
  '%s is parsed once',
  async (query) => {
    let parsed = 0
    const documentCache = { get: () => void parsed++, set: () => {} }
    const server = serverOf([], { parserAndValidationCache: { documentCache } })
    for (const _time of TIMES)
      expect(await server.post(query, 'text/event-stream, application/json')).not.toContain('errors')
    expect(parsed).toBe(1)
  },
)

it('refuses a mutation by GET, cached or not', async () => {
  const server = serverOf([])
  for (const _time of TIMES) {
    expect(await server.get('mutation { change }')).toMatch(/^405 /)
    expect(await server.post('mutation { change }')).toBe('{"data":{"change":"changed"}}')
  }
})

it('passes arguments that a plugin adds to the executor', async () => {
  const adding: Plugin = {
    onExecute({ args }) {
      args.rootValue = { name: 'added' }
    },
  }
  const server = serverOf([adding])
  for (const _time of TIMES) expect(await server.post('{ rooted }')).toBe('{"data":{"rooted":"added"}}')
})

it('masks errors of executed results, but not of results that a plugin sets', async () => {
  const answering: Plugin = {
    onExecute({ args, setResultAndStopExecution }) {
      if (args.document.definitions.length === 2)
        setResultAndStopExecution({ errors: [{ message: 'mine' } as GraphQLError] })
    },
  }
  const server = serverOf([answering])
  for (const _time of TIMES) {
    const executed = await server.post('{ fails }')
    expect(executed).toContain('Unexpected error.')
    expect(executed).not.toContain('a secret')
    expect(await server.post('{ ...F } fragment F on Query { fails }')).toContain('"message":"mine"')
  }
})

it('masks errors in parts and does not change parts without errors', async () => {
  const dividing: Plugin = {
    onExecute({ setExecuteFn }) {
      setExecuteFn(async function* () {
        yield { data: { hello: 'first' }, hasNext: true }
        yield { errors: [new Error('a secret')], hasNext: false }
      })
    },
  }
  const server = serverOf([dividing])
  for (const _time of TIMES) {
    const parts = await server.post('{ hello }', 'text/event-stream')
    expect(parts).toContain('{"data":{"hello":"first"},"hasNext":true}')
    expect(parts).toContain('"message":"Unexpected error."')
    expect(parts).not.toContain('a secret')
  }
})

it('does not mask errors if masking is off', async () => {
  const server = serverOf([], { maskedErrors: false })
  for (const _time of TIMES) expect(await server.post('{ fails }')).toContain('"message":"a secret"')
})

it('each hook keeps the executor that it received', async () => {
  const late: Plugin = {
    onExecute(payload) {
      payload.setExecuteFn((args) => payload.executeFn(args))
    },
  }
  const server = serverOf([late, late])
  for (const _time of TIMES) expect(await server.post('{ hello }')).toBe('{"data":{"hello":"world"}}')
})

it.each([
  ['none', {}, [undefined]],
  [
    'a replaced innermost executor',
    { onExecute: ({ setExecuteFn }) => setExecuteFn(() => ({ data: { hello: 'mine' } })) } satisfies Plugin,
    [true],
  ],
])('sets isWrapped if an outer plugin wraps the execution: %s', async (_, other, told) => {
  const seen: unknown[] = []
  const behaviour: Behaviour = {
    execute(operation, next) {
      seen.push(operation.isWrapped)
      return next(operation)
    },
  }
  const server = serverOf([other, { behaviour }])
  await server.post('{ hello }')
  seen.length = 0
  await server.post('{ hello }')
  expect(seen).toEqual(told)
})

it("only Envelop's hooks receive subscription events, also for cached documents", async () => {
  let heard = 0
  let hooked = 0
  const behaviour: Behaviour = { onPart: () => void heard++ }
  const plugin = {
    behaviour,
    onSubscribe: () => ({ onSubscribeResult: () => ({ onNext: () => void hooked++ }) }),
  }
  const server = serverOf([plugin])
  for (const time of TIMES) {
    expect(await server.post('subscription { ticks }', 'text/event-stream')).toContain('"ticks":2')
    expect({ heard, hooked }).toEqual({ heard: 0, hooked: 2 * time })
  }
})

describe('validation rules of plugins', () => {
  const refuses = (context: ValidationContext) => ({
    Field: (node: FieldNode) => context.reportError(new GraphQLError(`not ${node.name.value}`)),
  })
  const allows = () => ({})

  it('apply to a document that was valid without them', async () => {
    let rule: ValidationRule | undefined
    const server = serverOf([
      { onValidate: ({ addValidationRule }: AddsRules) => void (rule && addValidationRule(rule)) },
    ])
    for (const _time of TIMES) expect(await server.post('{ hello }')).toBe('{"data":{"hello":"world"}}')
    for (rule of [refuses, refuses]) expect(await server.post('{ hello }')).toContain('not hello')
    for (rule of [allows, undefined, allows])
      expect(await server.post('{ hello }')).toBe('{"data":{"hello":"world"}}')
  })

  it('are not looked up by name after a document was valid', async () => {
    let asked = 0
    const counts = { get: () => `Named${asked++ && ''}` }
    const rule = Object.defineProperty(() => ({}), 'name', counts) as ValidationRule
    const server = serverOf([{ onValidate: ({ addValidationRule }: AddsRules) => addValidationRule(rule) }])
    for (const _time of TIMES) await server.post('{ hello }')
    const before = asked
    expect(before).toBeGreaterThan(0)
    for (const _time of TIMES) expect(await server.post('{ hello }')).toBe('{"data":{"hello":"world"}}')
    expect(asked).toBe(before)
  })
})
