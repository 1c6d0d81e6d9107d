import { envelop, useEngine, useErrorHandler, useMaskedErrors } from '@envelop/core'
import { grpcError } from '@vinyasa/test-kit'
import { execute, GraphQLError, parse, subscribe, validate, type ExecutionArgs } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import { useGrpcSource } from '../src/index.ts'
import type { PlanEvent } from '@vinyasa/source-kit'
import { backend, run, source, yogaWith, type Yoga } from './harness.ts'

const PROTO = `
syntax = "proto3"; package h; import "graphql.proto";
service S { rpc Get(Id) returns (User) { option (graphql.schema).name = "user"; } }
message Id { string id = 1; }
message User { string id = 1; string name = 2; }`

const QUERY = '{ user(id: "1") { id name } }'

async function yogaAround(
  before: readonly Plugin[],
  after: readonly Plugin[] = [],
): Promise<{ yoga: Yoga; events: PlanEvent[]; calls: readonly unknown[] }> {
  const { address, calls } = await backend(
    { 'h.proto': PROTO },
    {
      'h.S/Get': ({ id }) => {
        if (id === 'none') throw grpcError(13, 'secret')
        return { id, name: 'Ada' }
      },
    },
  )
  const events: PlanEvent[] = []
  const grpc = await source({
    protoText: { 'h.proto': PROTO },
    endpoint: address,
    onPlan: (event) => events.push(event),
  })
  const yoga = yogaWith(grpc, { plugins: [...after] })
  if (before.length === 0) return { yoga, events, calls }
  const { createYoga } = await import('graphql-yoga')
  return {
    yoga: createYoga({ logging: false, plugins: [...before, useGrpcSource(grpc) as Plugin, ...after] }),
    events,
    calls,
  }
}

/** Each row is a plugin as people write them, on either side of the source, and what a client then sees. */
const WRITERS: readonly (readonly [string, () => Plugin, object])[] = [
  [
    'onExecuteDone that sets another result',
    () => ({
      onExecute: () => ({
        onExecuteDone: ({ result, setResult }) =>
          setResult({ ...(result as object), extensions: { seen: (result as any).data.user.name } }),
      }),
    }),
    { data: { user: { id: '1', name: 'Ada' } }, extensions: { seen: 'Ada' } },
  ],
  [
    'onExecuteDone that changes the data in place',
    () => ({
      onExecute: () => ({
        onExecuteDone: ({ result }) => {
          ;(result as any).data.user.name = 'Bo'
        },
      }),
    }),
    { data: { user: { id: '1', name: 'Bo' } } },
  ],
  [
    'onExecuteDone that puts other data in place',
    () => ({
      onExecute: () => ({
        onExecuteDone: ({ result }) => {
          ;(result as any).data = { user: null }
        },
      }),
    }),
    { data: { user: null } },
  ],
  [
    'onExecuteDone that adds an error',
    () => ({
      onExecute: () => ({
        onExecuteDone: ({ result }) => {
          ;(result as any).errors = [new GraphQLError('late')]
        },
      }),
    }),
    { data: { user: { id: '1', name: 'Ada' } }, errors: [{ message: 'late' }] },
  ],
  [
    'onExecutionResult that adds extensions',
    () => ({
      onExecutionResult: ({ result }) => {
        ;(result as any).extensions = { ms: 1 }
      },
    }),
    { data: { user: { id: '1', name: 'Ada' } }, extensions: { ms: 1 } },
  ],
  [
    'onResultProcess that sets another result',
    () => ({
      onResultProcess: ({ result, setResult }) => setResult({ data: { was: (result as any).data } }),
    }),
    { data: { was: { user: { id: '1', name: 'Ada' } } } },
  ],
  [
    'setResultAndStopExecution',
    () => ({ onExecute: ({ setResultAndStopExecution }) => setResultAndStopExecution({ data: { no: 1 } }) }),
    { data: { no: 1 } },
  ],
  [
    'an execute of its own around the one it found',
    () => ({
      onExecute: ({ executeFn, setExecuteFn }) =>
        setExecuteFn(async (args: ExecutionArgs) => {
          const result = await executeFn(args)
          return { data: { wrapped: (result as any).data.user.name } }
        }),
    }),
    { data: { wrapped: 'Ada' } },
  ],
]

describe('a plugin beside plans', () => {
  for (const [what, plugin, expected] of WRITERS) {
    for (const side of ['before', 'after'] as const) {
      it(`is heard: ${what}, ${side} the source`, async () => {
        const { yoga, calls } = await (side === 'before'
          ? yogaAround([plugin()])
          : yogaAround([], [plugin()]))
        for (let round = 0; round < 2; round++) expect(await run(yoga, QUERY)).toEqual(expected)
        expect(calls.length).toBe(what === 'setResultAndStopExecution' ? 0 : 2)
      })
    }
  }

  it('gets the JSON as long as nobody reads the data, an object afterwards', async () => {
    const seen: unknown[] = []
    const look: Plugin = {
      onResultProcess({ result }) {
        const planned = result as any
        seen.push(String(planned.stringify(planned)), planned.data, planned.stringify(planned))
      },
    }
    const { yoga, events } = await yogaAround([], [look])
    await run(yoga, QUERY)
    const json = '{"data":{"user":{"id":"1","name":"Ada"}}}'
    expect(seen).toEqual([json, { user: { id: '1', name: 'Ada' } }, json])
    expect(events[0]?.outcome).toBe('planned')
  })

  it('is never bypassed when it executes itself', async () => {
    const executed: unknown[] = []
    const wrapper: Plugin = {
      onExecute: ({ executeFn, setExecuteFn }) =>
        setExecuteFn((args: ExecutionArgs) => {
          executed.push(args.document)
          return executeFn(args)
        }),
    }
    const { yoga, events } = await yogaAround([wrapper])
    expect(await run(yoga, QUERY)).toEqual({ data: { user: { id: '1', name: 'Ada' } } })
    expect(executed).toHaveLength(1)
    expect(events).toEqual([])
  })

  it('handles and masks errors as without plans', async () => {
    const handled: string[] = []
    const { yoga } = await yogaAround(
      [useErrorHandler(({ errors }) => void handled.push(...errors.map(({ message }) => message))) as Plugin],
      [useMaskedErrors({ maskError: () => new GraphQLError('masked') }) as Plugin],
    )
    expect(await run(yoga, '{ user(id: "none") { id } }')).toMatchObject({ errors: [{ message: 'masked' }] })
    expect(await run(yoga, QUERY)).toEqual({ data: { user: { id: '1', name: 'Ada' } } })
    expect(handled).toEqual(['Internal server error'])
  })

  it('may put another document in place', async () => {
    const other = parse('{ user(id: "2") { id } }')
    const swap: Plugin = { onExecute: ({ args }) => void (args.document = other) }
    for (const around of [yogaAround([swap]), yogaAround([], [swap])]) {
      const { yoga } = await around
      expect(await run(yoga, QUERY)).toEqual({ data: { user: { id: '2' } } })
    }
  })

  it('may wrap a resolver', async () => {
    const wrap: Plugin = {
      onSchemaChange({ schema }) {
        const field = (schema as any).getType('User')?.getFields()['name']
        if (field && !field.resolve) field.resolve = (parent: any) => parent.name.toUpperCase()
      },
    }
    const { yoga, events } = await yogaAround([], [wrap])
    expect(await run(yoga, QUERY)).toEqual({ data: { user: { id: '1', name: 'ADA' } } })
    expect(events).toEqual([
      { operationName: undefined, outcome: 'unplanned', reason: 'User.name has a resolver or arguments' },
    ])
  })

  it('may be Envelop alone, with graphql itself', async () => {
    const { address } = await backend({ 'h.proto': PROTO }, { 'h.S/Get': ({ id }) => ({ id, name: 'Ada' }) })
    const events: PlanEvent[] = []
    const grpc = await source({
      protoText: { 'h.proto': PROTO },
      endpoint: address,
      onPlan: (event) => events.push(event),
    })
    const getEnveloped = envelop({
      plugins: [useEngine({ parse, validate, execute, subscribe }), useGrpcSource(grpc)],
    })
    const { schema, execute: run, contextFactory } = getEnveloped({})
    const result = await run({ schema, document: parse(QUERY), contextValue: await contextFactory() })
    expect(result).toMatchObject({ data: { user: { id: '1', name: 'Ada' } } })
    expect(JSON.stringify(result)).toBe('{"data":{"user":{"id":"1","name":"Ada"}}}')
    expect(events[0]?.outcome).toBe('planned')
  })

  it('sees an operation in a batch and over an event stream', async () => {
    const { address } = await backend(
      { 'h.proto': PROTO },
      { 'h.S/Get': ({ id }) => ({ id, name: 'Łukasz' }) },
    )
    const grpc = await source({ protoText: { 'h.proto': PROTO }, endpoint: address })
    const yoga = yogaWith(grpc, { batching: true })
    const ask = (body: unknown, accept: string): Promise<string> =>
      Promise.resolve(
        yoga.fetch('http://test/graphql', {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept },
          body: JSON.stringify(body),
        }),
      ).then((response) => response.text())
    const answer = '{"data":{"user":{"id":"1","name":"Łukasz"}}}'
    expect(await ask([{ query: QUERY }, { query: QUERY }], 'application/json')).toBe(`[${answer},${answer}]`)
    expect(await ask({ query: QUERY }, 'text/event-stream')).toContain(`data: ${answer}`)
    expect(await ask({ query: QUERY }, 'application/graphql-response+json')).toBe(answer)
  })
})
