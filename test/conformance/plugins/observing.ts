import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { useApolloServerErrors } from '@envelop/apollo-server-errors'
import { useDataLoader } from '@envelop/dataloader'
import { useGraphQlJit } from '@envelop/graphql-jit'
import { useGraphQLMiddleware } from '@envelop/graphql-middleware'
import { useOnResolve } from '@envelop/on-resolve'
import { useOpenTelemetry } from '@envelop/opentelemetry'
import { useParserCache } from '@envelop/parser-cache'
import { usePrometheus as useEnvelopPrometheus } from '@envelop/prometheus'
import { useSentry } from '@envelop/sentry'
import { useValidationCache } from '@envelop/validation-cache'
import { useHive } from '@graphql-hive/yoga'
import { useApolloInlineTrace } from '@graphql-yoga/plugin-apollo-inline-trace'
import { useDeferStream } from '@graphql-yoga/plugin-defer-stream'
import { useGraphQLSSE } from '@graphql-yoga/plugin-graphql-sse'
import { usePrometheus } from '@graphql-yoga/plugin-prometheus'
import { useResponseCache } from '@graphql-yoga/plugin-response-cache'
import { useSofa } from '@graphql-yoga/plugin-sofa'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import * as Sentry from '@sentry/node'
import { useContentEncoding } from '@whatwg-node/server'
import { useCookies } from '@whatwg-node/server-plugin-cookies'
import DataLoader from 'dataloader'
import { useExecutionCancellation, useReadinessCheck } from 'graphql-yoga'
import { Registry } from 'prom-client'
import { expect } from 'vitest'
import { atEnd, type Row } from './world.ts'

const ADA = '{ user(id: "1") { id name } }'
const ada = { user: { id: '1', name: 'Ada' } }
const TIMES = [0, 1, 2] as const

/** What is seen of operations: each time, hits too. */
interface Sight {
  readonly seen: unknown[]
}

const shared: Record<string, any> = {}

export const OBSERVING: readonly Row[] = [
  {
    name: '@envelop/graphql-middleware',
    promise: 'each resolver is wrapped once',
    plugins: () => {
      const { seen } = sight('middleware')
      return [
        useGraphQLMiddleware([
          async (resolve: any, root: unknown, args: unknown, context: unknown, info: any) => {
            seen.push(`${info.parentType.name}.${info.fieldName}`)
            return resolve(root, args, context, info)
          },
        ] as never),
      ]
    },
    async holds({ ask, calls, isCached }) {
      for (const time of TIMES) expect([time, (await ask(ADA)).data]).toEqual([time, ada])
      const each = ['Query.user', 'User.id', 'User.name']
      expect(shared['middleware'].seen).toEqual(isCached ? each : [...each, ...each, ...each])
      expect(calls).toHaveLength(isCached ? 1 : 3)
    },
  },
  {
    name: '@envelop/on-resolve',
    promise: 'each resolver that runs is heard once',
    plugins: () => {
      const { seen } = sight('onResolve')
      return [useOnResolve(({ info }) => void seen.push(`${info.parentType.name}.${info.fieldName}`))]
    },
    async holds({ ask, isCached }) {
      for (const time of TIMES) expect([time, (await ask(ADA)).data]).toEqual([time, ada])
      const each = ['Query.user', 'User.id', 'User.name']
      expect(shared['onResolve'].seen).toEqual(isCached ? each : [...each, ...each, ...each])
    },
  },
  {
    name: '@envelop/graphql-jit',
    promise: 'answers are the same',
    plugins: () => [useGraphQlJit()],
    async holds({ ask, isCached, calls }) {
      for (const time of TIMES) expect([time, (await ask(ADA)).data]).toEqual([time, ada])
      const { data, errors } = await ask('{ fail users(first: 1) { name friend { name } } }')
      expect([data.users[0], errors.length]).toEqual([{ name: 'Ada', friend: { name: 'Grace' } }, 1])
      expect(calls.filter((call) => call === 'user')).toHaveLength(isCached ? 1 : 3)
    },
  },
  {
    name: '@envelop/parser-cache and @envelop/validation-cache',
    promise: 'answers and refusals are the same',
    plugins: () => [useParserCache(), useValidationCache()],
    async holds({ ask }) {
      for (const time of TIMES) {
        expect([time, (await ask(ADA)).data]).toEqual([time, ada])
        expect([time, (await ask('{ nothing }')).errors]).toEqual([
          time,
          [expect.stringContaining('nothing')],
        ])
        expect([time, (await ask('{ user(id: "2") { name } }')).data]).toEqual([
          time,
          { user: { name: 'Grace' } },
        ])
      }
    },
  },
  {
    name: '@envelop/dataloader',
    promise: 'each request has a loader of its own',
    plugins: () => {
      const { seen } = sight('loaders')
      return [
        useDataLoader('who', () => new DataLoader(async (keys: readonly string[]) => keys)),
        {
          readsHeaders: [],
          onExecute: ({ args }: any) => void seen.push(args.contextValue.who),
        },
      ]
    },
    async holds({ ask }) {
      for (const time of TIMES) expect([time, (await ask(ADA)).data]).toEqual([time, ada])
      const { seen } = shared['loaders']
      expect([seen.length, new Set(seen).size]).toEqual([3, 3])
      expect(seen.every((loader: unknown) => loader instanceof DataLoader)).toBe(true)
    },
  },
  {
    name: '@envelop/apollo-server-errors',
    promise: 'errors have the codes of Apollo',
    plugins: () => [useApolloServerErrors()],
    async holds({ ask }) {
      for (const time of TIMES) {
        expect([time, (await ask(ADA)).data]).toEqual([time, ada])
        const { errors, data } = await ask('{ fail me }')
        expect([time, data, errors.length]).toEqual([time, { fail: null, me: 'nobody' }, 1])
        expect((await ask('{ nothing }')).text).toContain('GRAPHQL_VALIDATION_FAILED')
      }
    },
  },
  {
    name: '@envelop/sentry',
    promise: 'a fault is reported each time, and an answer without one is not',
    plugins: () => {
      const { seen } = sight('sentry')
      Sentry.init({
        dsn: 'http://public@127.0.0.1:9/1',
        defaultIntegrations: false,
        beforeSend(event) {
          seen.push(event.exception?.values?.[0]?.value)
          return null
        },
      })
      atEnd(() => Sentry.close(0))
      return [useSentry()]
    },
    async holds({ ask }) {
      for (const time of TIMES) {
        expect([time, (await ask(ADA)).data]).toEqual([time, ada])
        expect([time, (await ask('{ fail me }')).data]).toEqual([time, { fail: null, me: 'nobody' }])
      }
      await expect.poll(() => shared['sentry'].seen).toEqual(['inside', 'inside', 'inside'])
    },
  },
  {
    name: '@envelop/opentelemetry',
    promise: 'each operation has a span, hits too',
    plugins: () => {
      const exporter = (shared['spans'] = new InMemorySpanExporter())
      const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
      return [useOpenTelemetry({ resolvers: false, variables: false, result: false }, provider as never)]
    },
    async holds({ ask }) {
      for (const time of TIMES) expect([time, (await ask(`query Named ${ADA}`)).data]).toEqual([time, ada])
      expect(shared['spans'].getFinishedSpans()).toHaveLength(3)
    },
  },
  {
    name: '@envelop/prometheus',
    promise: 'each operation is counted, hits too',
    plugins: () => {
      const registry = (shared['envelop'] = new Registry())
      return [useEnvelopPrometheus({ metrics: { graphql_envelop_request: true }, registry } as never)]
    },
    async holds({ ask }) {
      for (const time of TIMES) expect([time, (await ask(`query Named ${ADA}`)).data]).toEqual([time, ada])
      expect(await countOf(shared['envelop'], 'graphql_envelop_request')).toBe(3)
    },
  },
  {
    name: '@graphql-yoga/plugin-prometheus',
    promise: 'each operation is counted, hits too, and told under its path',
    plugins: () => {
      const registry = (shared['yoga'] = new Registry())
      return [
        usePrometheus({ metrics: { graphql_envelop_request: true }, registry, endpoint: '/counts' } as never),
      ]
    },
    async holds({ ask, origin }) {
      for (const time of TIMES) expect([time, (await ask(`query Named ${ADA}`)).data]).toEqual([time, ada])
      expect(await countOf(shared['yoga'], 'graphql_envelop_request')).toBe(3)
      expect(await (await fetch(`${origin}/counts`)).text()).toContain('graphql_envelop_request')
    },
  },
  {
    name: '@graphql-yoga/plugin-apollo-inline-trace',
    promise: 'a trace is for who asks for one, each time, and for nobody else',
    readsHeaders: ['apollo-federation-include-trace'],
    plugins: () => [useApolloInlineTrace()],
    async holds({ ask }) {
      const headers = { 'apollo-federation-include-trace': 'ftv1' }
      for (const time of TIMES) {
        const plain = await ask(ADA)
        expect([time, plain.data, plain.extensions]).toEqual([time, ada, undefined])
        const traced = await ask(ADA, { headers })
        expect([time, traced.data, traced.extensions]).toEqual([time, ada, { ftv1: expect.any(String) }])
      }
    },
  },
  {
    name: '@graphql-yoga/plugin-response-cache',
    promise: 'each has answers of his own, and a mutation is seen',
    readsHeaders: ['x-user'],
    plugins: () => [
      {
        readsHeaders: ['x-user'],
        onContextBuilding: ({ context, extendContext }: any) =>
          extendContext({ who: context.request.headers.get('x-user') }),
      },
      useResponseCache({ session: (request) => request.headers.get('x-user') }),
    ],
    async holds({ ask }) {
      for (const time of TIMES) {
        for (const who of ['alice', 'bob'])
          expect([time, (await ask('{ me }', { headers: { 'x-user': who } })).data]).toEqual([
            time,
            { me: who },
          ])
      }
      const headers = { 'x-user': 'alice' }
      for (const name of ['Ada', 'Eve', 'Eva']) {
        await ask('mutation ($name: String!) { rename(id: "1", name: $name) { id } }', {
          headers,
          variables: { name },
        })
        for (const time of TIMES)
          expect([time, (await ask(ADA, { headers })).data]).toEqual([time, { user: { id: '1', name } }])
      }
    },
  },
  {
    name: '@graphql-yoga/plugin-defer-stream',
    promise: 'a deferred query is answered whole to who takes no parts',
    plugins: () => [useDeferStream()],
    async holds({ ask }) {
      for (const time of TIMES) {
        const { data } = await ask('{ user(id: "1") { id ... @defer { name } } }')
        expect([time, data]).toEqual([time, ada])
        const parts = await ask('{ user(id: "2") { id ... @defer { name } } }', {
          headers: { accept: 'multipart/mixed' },
        })
        expect([time, parts.text]).toEqual([time, expect.stringContaining('"hasNext":false')])
        expect(parts.text).toContain('Grace')
      }
    },
  },
  {
    name: '@graphql-yoga/plugin-graphql-sse',
    promise: 'its path answers queries and subscriptions as events',
    plugins: () => [useGraphQLSSE({ endpoint: '/graphql/stream' })],
    async holds({ origin, ask }) {
      for (const time of TIMES) {
        expect([time, (await ask(ADA)).data]).toEqual([time, ada])
        for (const [query, events] of [
          [ADA, 1],
          ['subscription { count }', 2],
        ] as const) {
          const response = await fetch(`${origin}/graphql/stream`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
            body: JSON.stringify({ query }),
          })
          const text = await response.text()
          expect([time, query, text.match(/event: next/g)?.length, text.includes('event: complete')]).toEqual(
            [time, query, events, true],
          )
        }
      }
    },
  },
  {
    name: '@graphql-yoga/plugin-sofa',
    promise: 'its paths answer queries',
    plugins: () => [useSofa({ basePath: '/rest' })],
    async holds({ origin, ask }) {
      for (const time of TIMES) {
        expect([time, (await ask(ADA)).data]).toEqual([time, ada])
        const response = await fetch(`${origin}/rest/user/1`)
        expect([time, await response.json()]).toMatchObject([time, { id: '1', name: 'Ada' }])
      }
    },
  },
  {
    name: '@graphql-hive/yoga',
    promise: 'documents of its registry are known by their ids',
    async plugins() {
      const server = createServer((request, response) => {
        const isKnown = request.url?.endsWith('/apps/app/1/known') === true
        response.writeHead(isKnown ? 200 : 404).end(isKnown ? ADA : '')
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      atEnd(() => server.close())
      const { port } = server.address() as AddressInfo
      return [
        useHive({
          enabled: true,
          token: 'token',
          reporting: false,
          usage: false,
          agent: { logger: { info() {}, error() {}, debug() {} } as never },
          persistedDocuments: {
            cdn: { endpoint: `http://127.0.0.1:${port}`, accessToken: 'x' },
            allowArbitraryDocuments: true,
          },
        } as never),
      ]
    },
    async holds({ ask, origin, isCached }) {
      expect((await ask(ADA)).data).toEqual(ada)
      for (const time of TIMES) {
        const response = await fetch(`${origin}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ documentId: 'app~1~known' }),
        })
        expect([time, await response.json(), response.headers.get('x-cache')]).toEqual([
          time,
          { data: ada },
          isCached ? 'HIT' : null,
        ])
      }
    },
  },
  {
    name: '@whatwg-node/server-plugin-cookies',
    promise: 'a cookie is read and set at each request',
    readsHeaders: ['cookie'],
    plugins: () => [
      useCookies(),
      {
        readsHeaders: ['cookie'],
        async onContextBuilding({ context, extendContext }: any) {
          const { cookieStore } = context.request
          extendContext({ who: (await cookieStore.get('who'))?.value })
          await cookieStore.set('seen', '1')
        },
      },
    ],
    async holds({ ask }) {
      for (const time of TIMES) {
        for (const who of ['alice', 'bob']) {
          const { data, headers } = await ask('{ me }', { headers: { cookie: `who=${who}` } })
          expect([time, data, headers.get('set-cookie')]).toEqual([
            time,
            { me: who },
            expect.stringContaining('seen=1'),
          ])
        }
      }
    },
  },
  {
    name: 'useContentEncoding of @whatwg-node/server',
    promise: 'answers are compressed for who takes it, hits too',
    plugins: () => [useContentEncoding()],
    async holds({ ask }) {
      for (const time of TIMES) {
        const { data, headers } = await ask(ADA, { headers: { 'accept-encoding': 'gzip' } })
        expect([time, data, headers.get('content-encoding')]).toEqual([time, ada, 'gzip'])
        const plain = await ask(ADA, { headers: { 'accept-encoding': 'identity' } })
        expect([time, plain.data, plain.headers.get('content-encoding')]).toEqual([time, ada, null])
      }
    },
  },
  {
    name: 'useReadinessCheck and useExecutionCancellation of graphql-yoga',
    promise: 'answers are the same, and the path is there',
    plugins: () => [useReadinessCheck({ endpoint: '/alive', check: () => true }), useExecutionCancellation()],
    async holds({ ask, origin }) {
      for (const time of TIMES) expect([time, (await ask(ADA)).data]).toEqual([time, ada])
      expect((await fetch(`${origin}/alive`)).status).toBe(200)
    },
  },
]

function sight(name: string): Sight {
  return (shared[name] = { seen: [] })
}

async function countOf(registry: Registry, name: string): Promise<number> {
  const { values } = ((await registry.getSingleMetric(name)?.get()) ?? { values: [] }) as {
    values: readonly { value: number }[]
  }
  return values.reduce((sum, { value }) => sum + value, 0)
}
