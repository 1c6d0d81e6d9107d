import type { GraphQLSchema } from 'graphql'
import { createGraphQLError, createSchema, type Plugin } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import { HOOK_ROWS, type Hooks } from './hook-rows.ts'
import { usePipeline } from '../src/index.ts'
import {
  bothAnswer,
  bytesOf,
  type Doors,
  exchange,
  get,
  graphql,
  openDoors,
  type RawRequest,
} from './doors.ts'

const requests: readonly RawRequest[] = [
  { body: graphql('{ hello }') },
  { body: graphql('{ hello(name: "x") fails }'), headers: { origin: 'https://a.test', 'x-a': '1' } },
  { body: '{' },
  { body: graphql('{ hello }'), headers: { accept: 'image/png' } },
  { body: `[${graphql('{ hello }')},${graphql('{ slow }')}]` },
  get({ query: '{ hello(name: "x") fails }' }, { 'x-a': '1' }),
  get({ query: 'mutation { bump }' }, { origin: 'https://a.test' }),
  get({}),
]

async function expectAlike(doors: Doors): Promise<string[]> {
  const answers = []
  for (const request of requests) {
    const { yoga, thin } = await bothAnswer(doors, request)
    expect(thin).toBe(withoutStack(yoga, thin))
    answers.push(thin)
  }
  return answers
}

/** Yoga answers what a hook around the request threw with its stack; the handler with the status and its name alone. */
function withoutStack(yoga: string, thin: string): string {
  if (!yoga.includes('\n    at ')) return yoga
  const [statusLine = ''] = yoga.split('\r\n')
  const name = statusLine.replace(/^\S+ \d+ /, '')
  return thin.startsWith(`${statusLine}\r\n`) && thin.endsWith(`\r\n\r\n${name}\n`) ? thin : yoga
}

describe('a plugin whose hook', () => {
  it.each(HOOK_ROWS)('%s works alike behind both doors', async (_name, hooks, mark) => {
    const doors = await openDoors(() => ({ plugins: [hooks as Plugin], batching: true }))
    expect(doors.handler.slowPathReasons).toEqual([])
    expect((await expectAlike(doors)).join('\n')).toContain(mark)
  })

  it.each(HOOK_ROWS)('%s works alike with unmasked errors', async (_name, hooks) => {
    expect.assertions(requests.length)
    await expectAlike(
      await openDoors(() => ({ plugins: [hooks as Plugin], batching: true, maskedErrors: false })),
    )
  })

  it.each(HOOK_ROWS)(
    '%s works alike where queries are known, and is called as often',
    async (_name, hooks, mark) => {
      const calls: string[] = []
      const doors = await openDoors(() => ({
        plugins: [counted(hooks, calls) as Plugin, usePipeline({ liftLiterals: true })],
        batching: true,
      }))
      expect(doors.handler.uncachedReasons).toEqual([])
      const answers: string[] = []
      calls.length = 0
      for (const request of requests) {
        const bytes = bytesOf(request)
        for (const time of [1, 2, 3]) {
          const yoga = await exchange(doors.yoga, bytes)
          const expected = calls.splice(0)
          const thin = await exchange(doors.thin, bytes)
          expect(thin, `time ${time}`).toBe(withoutStack(yoga, thin))
          expect(calls.splice(0), `time ${time}`).toEqual(expected)
          answers.push(thin)
        }
      }
      expect(answers.join('\n')).toContain(mark)
    },
  )
})

/** The hooks, and those that they return, each noting that it was called. */
function counted(hooks: Hooks, calls: string[]): Hooks {
  const wrapped = Object.entries(hooks).map(([name, hook]) => [
    name,
    (payload: unknown) => {
      calls.push(name)
      return hook(payload)
    },
  ])
  return Object.fromEntries(wrapped) as Hooks
}

// Yoga itself fails on such a request when it limits the size of bodies.
it('a request made of the request works alike where there is no size limit', async () => {
  const hooks: Plugin = {
    onRequest: ({ request, setRequest, fetchAPI }) => setRequest(new fetchAPI.Request(request)),
  }
  const doors = await openDoors(() => ({ plugins: [hooks], batching: true, maxRequestBodySize: false }))
  expect((await expectAlike(doors)).join()).toContain('hello world')
})

it('the request has every member that a true one has, of the same kind', async () => {
  const kinds: string[] = []
  const hooks: Plugin = {
    onRequest: ({ request, fetchAPI }) => {
      const real = new fetchAPI.Request('http://a.test/', { method: 'POST', body: 'text' })
      for (let at: object = real; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
        for (const name of Object.getOwnPropertyNames(at)) {
          if (/^[a-z]/.test(name) && name !== 'constructor') {
            kinds.push(`${name} ${typeof Reflect.get(request, name)}`)
          }
        }
      }
      kinds.push(`href ${typeof Reflect.get(request, 'href')}`)
    },
  }
  const doors = await openDoors(() => ({ plugins: [hooks] }))
  const { yoga, thin } = await bothAnswer(doors, { body: graphql('{ hello }') })
  expect(thin).toBe(yoga)
  const half = kinds.length / 2
  expect(half).toBeGreaterThan(30)
  expect(kinds.slice(half)).toEqual(kinds.slice(0, half))
})

it('the response has every member that a true one has, of the same kind', async () => {
  const kinds: string[] = []
  const hooks: Plugin = {
    onResponse: ({ response, fetchAPI }) => {
      const real = new fetchAPI.Response('text')
      kinds.push(String(response instanceof fetchAPI.Response), Object.prototype.toString.call(response))
      for (let at: object = real; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
        for (const name of Object.getOwnPropertyNames(at)) {
          if (!/^[a-z]/.test(name) || name === 'constructor') continue
          const value: unknown = Reflect.get(response, name)
          kinds.push(`${name} ${/object|function/.test(typeof value) ? typeof value : String(value)}`)
        }
      }
    },
  }
  const doors = await openDoors(() => ({ plugins: [hooks] }))
  const { yoga, thin } = await bothAnswer(doors, { body: graphql('{ hello }') })
  expect(thin).toBe(yoga)
  const half = kinds.length / 2
  expect(half).toBeGreaterThan(20)
  expect(kinds.slice(half)).toEqual(kinds.slice(0, half))
})

describe('a document that was valid before', () => {
  const refuse = (context: any): readonly unknown[] | undefined =>
    context.request.headers.get('x-refuse') ? [createGraphQLError('refused now')] : undefined

  it.each<[string, Hooks]>([
    ['by a hook', { onValidate: ({ context, setResult }) => setResult(refuse(context)) }],
    [
      'by a hook after it',
      { onValidate: () => (done: any) => done.setResult(refuse(done.context) ?? done.result) },
    ],
    [
      'by another engine',
      { onValidate: ({ setValidationFn }) => setValidationFn(() => [createGraphQLError('refused now')]) },
    ],
  ])('is refused alike %s', async (_how, hooks) => {
    const doors = await openDoors(() => ({
      plugins: [hooks as Plugin],
      parserAndValidationCache: { validationCache: false },
    }))
    const body = graphql('{ hello }')
    for (let round = 0; round < 2; round++) {
      const accepted = await bothAnswer(doors, { body })
      const refused = await bothAnswer(doors, { body, headers: { 'x-refuse': '1' } })
      expect([accepted.thin, refused.thin]).toEqual([accepted.yoga, refused.yoga])
      expect(refused.thin).toContain('refused now')
    }
  })

  it('is validated again where somebody measures the step', async () => {
    let validated = 0
    const instrumentation = {
      validate: (_payload: unknown, wrapped: () => unknown) => {
        validated += 1
        return wrapped()
      },
    }
    const doors = await openDoors(() => ({ plugins: [{ instrumentation } as Plugin] }))
    for (let round = 0; round < 3; round++) await bothAnswer(doors, { body: graphql('{ hello }') })
    expect(validated).toBe(6)
  })

  it('is refused by another schema', async () => {
    const schemas = ['hello', 'other'].map((field) =>
      createSchema({ typeDefs: `type Query { ${field}: String }` }),
    )
    const doors = await openDoors(() => {
      let requests = 0
      return { schema: () => schemas[Math.floor(requests++ / 2) % 2] as GraphQLSchema }
    })
    const statuses = []
    for (let round = 0; round < 4; round++) {
      const { yoga, thin } = await bothAnswer(doors, { body: graphql('{ hello }') })
      expect(thin).toBe(yoga)
      statuses.push(thin.includes('"errors"'))
    }
    expect(statuses).toEqual([false, false, true, true])
  })
})

it('hooks run in the same order, with the same things in their hands', async () => {
  const seen: Record<string, string[]> = { yoga: [], thin: [] }
  let door = 'thin'
  const recorder = (label: string): Plugin => {
    const at = door
    const record =
      (hook: string) =>
      (payload: any): void => {
        seen[at]?.push(`${label} ${hook} ${Object.keys(payload).sort().join()}`)
      }
    return Object.fromEntries(
      [
        'onRequest',
        'onRequestParse',
        'onParams',
        'onParse',
        'onValidate',
        'onExecute',
        'onExecutionResult',
        'onResultProcess',
        'onResponse',
      ].map((hook) => [hook, record(hook)]),
    )
  }
  const doors = await openDoors(() => {
    const plugins = [recorder('a'), recorder('b')]
    door = 'yoga'
    return { plugins }
  })
  await bothAnswer(doors, { body: graphql('{ hello }') })
  expect(seen['thin']).toEqual(seen['yoga'])
  expect(seen['thin']).toHaveLength(18)
})

describe('a server that the fast path does not serve', () => {
  it.each([
    [
      'instrumentation of the request',
      { plugins: [{ instrumentation: { request: (_: unknown, wrapped: () => void) => wrapped() } }] },
      'a plugin uses instrumentation.request',
    ],
    [
      'a hook that it does not know',
      { plugins: [{ onSomethingNew: () => {} }] },
      'a plugin uses onSomethingNew',
    ],
    [
      'the native Request',
      { fetchAPI: { Request, Response, Headers, URL, ReadableStream, TextEncoder } },
      "the Request or Headers class in Yoga's option fetchAPI is not Yoga's default class for Node",
    ],
  ])('for %s says why, and Yoga answers', async (_sentence, options, reason) => {
    const doors = await openDoors(() => options as object)
    expect(doors.handler.slowPathReasons).toEqual([reason])
    const { yoga, thin } = await bothAnswer(doors, { body: graphql('{ hello }') })
    expect(thin).toBe(yoga)
    expect(thin).toContain('hello world')
  })

  it("keeps Envelop's instrumentation on the fast path", async () => {
    let executed = 0
    const doors = await openDoors(() => ({
      plugins: [
        {
          instrumentation: {
            execute: (_payload: unknown, wrapped: () => Promise<void> | void) => {
              executed += 1
              return wrapped()
            },
          },
        },
      ],
    }))
    expect(doors.handler.slowPathReasons).toEqual([])
    await bothAnswer(doors, { body: graphql('{ hello }') })
    expect(executed).toBe(2)
  })
})
