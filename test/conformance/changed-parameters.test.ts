import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createNodeHandler } from '@vinyasa/node-handler'
import { usePipeline } from '@vinyasa/core/pipeline'
import { useResponseCache } from '@vinyasa/response-cache'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { describe, expect, it, onTestFinished } from 'vitest'

// A plugin that writes who asks into the parameters of a request: the same bytes mean another thing for each caller, however
// often they came, with a cache that knows of the parameters alone.

interface Parameters {
  variables?: Record<string, unknown> | null
}

const userOf = (request: Request): string | null => request.headers.get('x-user')

/** Writes into the very object, where nothing is yet. */
function fill(params: Parameters | undefined, request: Request): void {
  const variables = ((params ?? {}).variables ??= {})
  variables['user'] ??= userOf(request)
}

const PLUGINS: Readonly<Record<string, Plugin>> = {
  'onParams, in place': { onParams: ({ params, request }) => fill(params as Parameters, request) },
  'onParams, later': {
    async onParams({ params, request }) {
      await Promise.resolve()
      fill(params as Parameters, request)
    },
  },
  'onParams, as other parameters': {
    onParams({ params, setParams, request }) {
      const variables = { user: userOf(request), ...params.variables }
      setParams({ ...params, variables })
    },
  },
  'onParams, as another document': {
    onParams({ params, setParams, request }) {
      if (params.query?.includes('$user')) setParams({ query: `{ hello(name: "${userOf(request)}") }` })
    },
  },
  'onParse, in place': {
    onParse({ context }) {
      const { params, request } = context as unknown as { params: Parameters; request: Request }
      fill(params, request)
    },
  },
  'onExecute, in place': {
    onExecute({ args }) {
      fill(args.contextValue.params as Parameters, args.contextValue.request)
      ;(args.variableValues as Record<string, unknown>)['user'] ??= userOf(args.contextValue.request)
    },
  },
}

async function start(
  plugin: Plugin,
  isCached: boolean,
): Promise<(user: string, body: string) => Promise<string>> {
  const handler = createNodeHandler(
    createYoga({
      logging: false,
      schema: createSchema({
        typeDefs: 'type Query { hello(name: String): String }',
        resolvers: { Query: { hello: (_root, { name }: { name: string }) => `hello ${name}` } },
      }),
      plugins: [
        plugin,
        ...(isCached ? [useResponseCache({ varyHeaders: [] })] : []),
        usePipeline({ liftLiterals: true }),
      ],
    }),
  )
  expect(handler.uncachedReasons).toEqual([])
  const server = createServer((request, response) => void handler(request, response))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  return async (user, body) => {
    const headers = { 'content-type': 'application/json', 'x-user': user }
    return (await fetch(`http://127.0.0.1:${port}/graphql`, { method: 'POST', headers, body })).text()
  }
}

describe.each([
  ['without a cache', false],
  ['with a cache', true],
])('%s', (_name, isCached) => {
  it.each(Object.entries(PLUGINS))('%s: each caller gets their own', async (_what, plugin) => {
    const ask = await start(plugin, isCached)
    const query = 'query ($user: String) { hello(name: $user) }'
    for (const body of [
      JSON.stringify({ query, variables: {} }),
      JSON.stringify({ query, variables: { other: 1 } }),
    ])
      for (const time of [1, 2, 3, 4])
        for (const user of ['ada', 'bob', 'ada', 'eve'])
          expect({ time, user, text: await ask(user, body) }).toEqual({
            time,
            user,
            text: `{"data":{"hello":"hello ${user}"}}`,
          })
  })
})
