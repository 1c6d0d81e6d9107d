import { createInvalidationBus } from '@vinyasa/invalidation'
import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { type Behaviour, usePipeline } from '@vinyasa/core/pipeline'
import { useResponseCache } from '@vinyasa/response-cache'
import { type ExecutionResult, GraphQLError, parse, print } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import { startServer, WAYS, type Way } from './ways.ts'

// The rules of the one way of operations, each on every way that an operation can come. A document is unknown when it is asked
// for first, and prepared from then on: everything is asked several times.

const TIMES = [1, 2, 3]

/** Says on which way and for which time a check failed. */
async function eachTime<W extends Way>(ways: readonly W[], check: (way: W) => Promise<void>): Promise<void> {
  for (const way of ways)
    for (const time of TIMES)
      await check(way).catch((cause: unknown) => {
        throw new Error(`${way}, asked ${time} times: ${(cause as Error).message}`, { cause })
      })
}

const HTTP = ["node-handler's door", "Yoga's door", 'yoga.fetch'] as const
const MULTIPART = { accept: 'multipart/mixed' }
const DEFERRED = '{ hello ... @defer { secret } }'

/** A rule of fields, as a behaviour. */
function refusingSecrets(): { readonly behaviour: Behaviour } {
  return {
    behaviour: {
      name: 'rules',
      execute(operation, next) {
        if (!print(operation.prepared.document).includes('secret')) return next(operation)
        return { data: null, errors: [new GraphQLError('refused', { extensions: { code: 'FORBIDDEN' } })] }
      },
    },
  }
}

function ordersOf<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]]
  return items.flatMap((item, index) => ordersOf(items.toSpliced(index, 1)).map((rest) => [item, ...rest]))
}

describe('1. stages, not places', () => {
  const names = ['rules', 'cache', 'defer'] as const
  const made = {
    rules: refusingSecrets,
    cache: () => useResponseCache(),
    defer: () => useDeferSplitter(),
  }

  it.each(ordersOf(names))(
    'a deferred field is refused by a rule in the order %s, %s, %s',
    async (...order) => {
      const server = await startServer(order.map((name) => made[name]()))
      await eachTime(WAYS, async (way) => {
        for (const headers of [{}, MULTIPART]) {
          const { result } = await server.ask(way, { query: DEFERRED }, headers)
          expect(JSON.stringify(result)).toContain('refused')
          expect(JSON.stringify(result)).not.toContain('a secret')
        }
      })
      expect(server.calls).toEqual([])
    },
  )
})

describe('2. @defer is the execution, and stands around nothing', () => {
  it('a hook of executions runs once for a deferred query, and hears of each part', async () => {
    let executed = 0
    let parts = 0
    const hook: Plugin = {
      onExecute() {
        executed++
        return { onExecuteDone: () => ({ onNext: () => void parts++ }) }
      },
    }
    const server = await startServer([hook, useDeferSplitter()])
    await eachTime(HTTP, async (way) => {
      executed = parts = 0
      const { result } = await server.ask(way, { query: '{ hello ... @defer { late } }' }, MULTIPART)
      expect(result).toContain('"late":"late"')
      expect({ executed, parts }).toEqual({ executed: 1, parts: 2 })
    })
  })
})

describe('3. results that never ran are heard like others', () => {
  it.each(['{', '{ nothing }', 'query A { hello } query B { hello }', 'query($a: Int!) { hello }'])(
    '%s reaches hooks of results, with its request',
    async (query) => {
      const heard: unknown[] = []
      const hook: Plugin = {
        onExecutionResult: ({ request, result }) =>
          void heard.push([request.headers.get('x-who'), Boolean((result as ExecutionResult).errors)]),
      }
      const server = await startServer([hook, useResponseCache(), usePipeline()])
      await eachTime(HTTP, async (way) => {
        heard.length = 0
        const { result } = await server.ask(way, { query }, { 'x-who': 'me' })
        expect(result.errors).toHaveLength(1)
        expect(heard).toEqual([['me', true]])
      })
    },
  )
})

describe('4. a request is no operation', () => {
  it('a batch is one request with several operations', async () => {
    const counts = { onRequest: 0, onParams: 0, onExecute: 0, onResponse: 0 }
    const hook = Object.fromEntries(
      Object.keys(counts).map((name) => [name, () => void counts[name as keyof typeof counts]++]),
    )
    const server = await startServer([hook, useResponseCache()])
    for (const _time of TIMES) {
      Object.assign(counts, { onRequest: 0, onParams: 0, onExecute: 0, onResponse: 0 })
      await server.ask('batch', { query: '{ hello }' })
      expect(counts).toEqual({ onRequest: 1, onParams: 2, onExecute: 2, onResponse: 1 })
    }
  })

  it.each([
    ['OPTIONS', '/graphql', {}],
    ['GET', '/graphql', { accept: 'text/html' }],
    ['GET', '/elsewhere', {}],
  ])('%s %s has a head and no operation', async (method, target, headers) => {
    const counts = { heads: 0, operations: 0 }
    const hook: Plugin = {
      onResponse: () => void counts.heads++,
      onParams: () => void counts.operations++,
    }
    const server = await startServer([hook, usePipeline()])
    for (const way of HTTP) {
      counts.heads = 0
      await (await server.send(way, target, { method, headers })).text()
      expect(counts).toEqual({ heads: 1, operations: 0 })
    }
  })
})

describe('5. masking', () => {
  it('who stands around the execution sees what failed, and the client does not', async () => {
    const seen: unknown[] = []
    const hook: Plugin = {
      onExecute: () => ({
        onExecuteDone: ({ result }) =>
          void seen.push((result as ExecutionResult).errors?.[0]?.originalError?.message),
      }),
    }
    const server = await startServer([hook, useResponseCache(), useDeferSplitter()])
    await eachTime(WAYS, async (way) => {
      seen.length = 0
      const { result } = await server.ask(way, { query: '{ fails }' })
      expect(result.errors[0].message).toBe('Unexpected error.')
      expect(seen.filter(Boolean)).toEqual(['a secret'])
    })
  })
})

describe('6. what Yoga refuses', () => {
  it('a mutation by GET, though it was prepared by POST', async () => {
    const server = await startServer([useResponseCache()])
    const query = 'mutation { change }'
    await eachTime(HTTP, async (way) => {
      expect((await server.ask(way, { query })).result).toEqual({ data: { change: 'changed' } })
      const target = `/graphql?query=${encodeURIComponent(query)}`
      expect((await server.send(way, target, {})).status).toBe(405)
    })
    expect(server.calls).toHaveLength(HTTP.length * TIMES.length)
  })

  it.each([{ query: 1 }, { query: '{ hello }', variables: 'x' }, { query: '{ hello }', extensions: 'x' }])(
    'parameters %j',
    async (params) => {
      const server = await startServer([usePipeline()])
      await eachTime(HTTP, async (way) => {
        await server.ask(way, { query: '{ hello }' })
        expect((await server.ask(way, params)).status).toBe(400)
      })
    },
  )

  it('a batch of too many', async () => {
    const server = await startServer([usePipeline()])
    const body = JSON.stringify(Array.from({ length: 4 }, () => ({ query: '{ hello }' })))
    await eachTime(HTTP, async (way) => {
      const headers = { 'content-type': 'application/json' }
      const response = await server.send(way, '/graphql', { method: 'POST', headers, body })
      expect(response.status).toBe(413)
    })
    expect(server.calls).toEqual([])
  })
})

describe('7. the cut', () => {
  const watching = (seen: unknown[], change: (result: ExecutionResult) => ExecutionResult): Plugin => ({
    onExecute: () => ({
      onExecuteDone({ result, setResult }) {
        seen.push(result)
        setResult(change(result as ExecutionResult))
      },
    }),
  })

  it('a plugin before the cache sees hits as it sees misses, and one behind it changes what is stored', async () => {
    const before: unknown[] = []
    const behind: unknown[] = []
    const server = await startServer([
      watching(before, (result) => result),
      useResponseCache(),
      watching(behind, (result) => ({ ...result, data: { count: 7 } })),
    ])
    let asked = 0
    await eachTime(WAYS, async (way) => {
      asked += way === 'batch' ? 2 : 1
      const { result } = await server.ask(way, { query: '{ count }' })
      expect(result.data).toEqual({ count: 7 })
      expect(before).toHaveLength(asked)
    })
    // Nothing is kept for sockets.
    expect(server.calls).toHaveLength(1 + TIMES.length)
    expect(behind).toHaveLength(1 + TIMES.length + 1)
  })

  it('a plugin before the cache may refuse a hit', async () => {
    let isOpen = true
    const guard: Plugin = {
      onExecute({ setResultAndStopExecution }) {
        if (!isOpen) setResultAndStopExecution({ errors: [new GraphQLError('closed')] })
      },
    }
    const server = await startServer([guard, useResponseCache()])
    for (const way of WAYS) {
      isOpen = true
      for (const _time of TIMES)
        expect((await server.ask(way, { query: '{ hello }' })).result.data).toEqual({ hello: 'world' })
      isOpen = false
      for (const _time of TIMES)
        expect((await server.ask(way, { query: '{ hello }' })).result.errors[0].message).toBe('closed')
    }
  })
})

describe('8. every way passes all hooks of other people', () => {
  const HOOKS = ['onParams', 'onParse', 'onValidate', 'onContextBuilding', 'onExecute', 'onExecutionResult']

  it.each(HOOKS)('%s is called once for each operation', async (name) => {
    let called = 0
    const server = await startServer([
      { [name]: () => void called++ },
      useResponseCache(),
      useDeferSplitter(),
    ])
    await eachTime(WAYS, async (way) => {
      called = 0
      await server.ask(way, { query: '{ late }' })
      expect(called).toBe(way === 'batch' ? 2 : 1)
    })
  })

  it('a run of a live query is an operation too: what a plugin refuses by then ends it', async () => {
    let isLetIn = true
    let called = 0
    const guard: Plugin = {
      onParams({ setResult, request }) {
        called++
        if (!isLetIn || request.headers.get('authorization') !== 'ann')
          setResult({ errors: [new GraphQLError('expired')] })
      },
    }
    const server = await startServer([guard, useResponseCache()])
    const socket = await server.openSocket({ authorization: 'ann' })
    socket.sendJson({ type: 'subscribe', id: '1', payload: { query: 'query @live { me }' } })
    expect(await socket.nextJson()).toMatchObject({ payload: { data: { me: 'ann' } } })
    const before = called
    isLetIn = false
    await server.change()
    expect(JSON.stringify(await socket.nextJson())).toContain('expired')
    expect(called).toBe(before + 1)
  })
})

describe('9. other people have the last word on what Yoga lets them do', () => {
  it.each(ordersOf(['ids', 'cache'] as const))('texts for ids, in the order %s, %s', async (...order) => {
    const ids: Plugin = {
      onParams({ params, setParams }) {
        const { id } = Object(params.extensions) as { readonly id?: string }
        if (id) setParams({ ...params, query: `{ ${id} }` })
      },
    }
    const made = { ids: () => ids, cache: () => useResponseCache() }
    const server = await startServer(order.map((name) => made[name]()))
    await eachTime(WAYS, async (way) => {
      const { result } = await server.ask(way, { query: '', extensions: { id: 'hello' } })
      expect(result).toEqual({ data: { hello: 'world' } })
    })
  })

  it('another format of results', async () => {
    const lines: Plugin = {
      onResultProcess({ request, setResultProcessor, acceptableMediaTypes }) {
        acceptableMediaTypes.push('text/lines')
        if (!request.headers.get('accept')?.includes('text/lines')) return
        setResultProcessor(
          (result, { Response }) => new Response(`lines ${JSON.stringify((result as ExecutionResult).data)}`),
          'text/lines',
        )
      },
    }
    const server = await startServer([lines, useResponseCache(), useDeferSplitter()])
    await eachTime(HTTP, async (way) => {
      const { result } = await server.ask(way, { query: '{ hello }' }, { accept: 'text/lines' })
      expect(result).toBe('lines {"hello":"world"}')
      const asJson = await server.ask(way, { query: '{ hello }' }, { accept: 'application/json' })
      expect(asJson.result).toEqual({ data: { hello: 'world' } })
    })
  })

  it('another document', async () => {
    const other = parse('{ hello: me }')
    const plugin: Plugin = {
      onParse: ({ params, setParsedDocument }) => {
        if (String(params.source).includes('swapped')) setParsedDocument(other)
      },
    }
    const server = await startServer([plugin, useResponseCache()])
    await eachTime(WAYS, async (way) => {
      const { result } = await server.ask(way, { query: 'query swapped { hello }' }, { authorization: 'ann' })
      expect(result).toEqual({ data: { hello: 'ann' } })
    })
  })
})

describe('10. bodies that come again', () => {
  it('have one object from the second prepared one on, and what is unlike has none', async () => {
    const objects: unknown[] = []
    const behaviour: Behaviour = {
      execute(operation, next) {
        if (!operation.isObserved) objects.push(operation.sameBytes)
        return next(operation)
      },
    }
    const server = await startServer([{ behaviour }, usePipeline()])
    const ask = (query: string) => server.ask("node-handler's door", { query })
    for (let time = 0; time < 4; time++) await ask('{ hello }')
    const [first, second, third] = objects
    expect(first).toBeUndefined()
    expect(second).toBeDefined()
    expect(third).toBe(second)
    await ask('{hello}')
    await ask('{hello}')
    expect(objects.at(-1)).not.toBe(second)
  })

  it.each([
    ['no JSON', '{"query":"{ hello }"'],
    ['no UTF-8', Buffer.from([...Buffer.from('{"query":"{ hello }","x":"'), 0xff, 0x22, 0x7d])],
  ])('%s is refused each time', async (_what, body) => {
    const server = await startServer([usePipeline()])
    await eachTime(HTTP, async (way) => {
      await server.ask(way, { query: '{ hello }' })
      const headers = { 'content-type': 'application/json' }
      const response = await server.send(way, '/graphql', { method: 'POST', headers, body })
      expect(response.status).toBe(400)
    })
  })
})

describe('11. answers without an execution', () => {
  it('an answer that the client has is 304 without a body, by every door', async () => {
    const bus = createInvalidationBus()
    const server = await startServer([useResponseCache({ bus, clientMaxAge: true })])
    const target = `/graphql?query=${encodeURIComponent('{ hello }')}`
    for (const way of HTTP) {
      const first = await server.send(way, target, {})
      expect(await first.json()).toEqual({ data: { hello: 'world' } })
      const tag = first.headers.get('etag')
      expect(tag).toBeTruthy()
      for (const _time of TIMES) {
        const again = await server.send(way, target, { headers: { 'if-none-match': tag! } })
        expect([again.status, await again.text()]).toEqual([304, ''])
      }
    }
    expect(server.calls).toEqual(['hello'])
  })

  it('a stale answer is refreshed once, by the same rules', async () => {
    let now = 0
    const clock = { now: () => now, wallNow: () => now, setTimeout, clearTimeout }
    let executed = 0
    const server = await startServer([
      useResponseCache({
        defaultTtlMs: 1_000,
        staleWhileRevalidateMs: 60_000,
        platform: { clock: clock as never },
      }),
      { onExecute: () => void executed++ },
    ])
    for (const [index, way] of HTTP.entries()) {
      await server.ask(way, { query: '{ count }' })
      const before = executed
      now += 2_000
      const { result } = await server.ask(way, { query: '{ count }' })
      expect(result.data.count).toBeLessThanOrEqual(index + 1)
      await expect.poll(() => executed).toBe(before + 1)
    }
  })
})
