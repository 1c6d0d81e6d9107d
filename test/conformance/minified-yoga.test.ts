import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { createNodeHandler } from '@vinyasa/node-handler'
import { usePipeline } from '@vinyasa/core/pipeline'
import { useResponseCache } from '@vinyasa/response-cache'
import { createDisposables } from '@vinyasa/test-kit'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'

type Yoga = { readonly createYoga: typeof createYoga }

const folder = new URL('../node_modules/', import.meta.url)
let directory = ''
let minified: Yoga

beforeAll(async () => {
  // Inside of node_modules, for there must be one graphql.
  directory = await mkdtemp(fileURLToPath(new URL('.minified-yoga-', folder)))
  const bundle = await rolldown({
    input: { yoga: 'graphql-yoga' },
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    external: ['graphql'],
    platform: 'node',
  })
  await bundle.write({ dir: directory, format: 'esm', minify: true, entryFileNames: '[name].mjs' })
  await bundle.close()
  minified = (await import(pathToFileURL(join(directory, 'yoga.mjs')).href)) as Yoga
})
afterAll(() => rm(directory, { recursive: true }))

let streams = 0
const { TransformStream } = createYoga({ logging: false }).fetchAPI
const Counted = new Proxy(TransformStream, {
  construct(target, args, newTarget) {
    streams++
    return Reflect.construct(target, args, newTarget) as object
  },
})

function yogaOf(yoga: Yoga, plugins: Plugin[]) {
  return yoga.createYoga<object, object>({
    logging: false,
    plugins,
    maxRequestBodySize: 200,
    fetchAPI: { TransformStream: Counted },
    schema: createSchema<object>({
      typeDefs: 'type Query { hello: String, fails: String }',
      resolvers: {
        Query: {
          hello: () => 'you',
          fails: () => {
            throw new Error('a secret')
          },
        },
      },
    }),
  })
}

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  createDisposables(onTestFinished).use(() => void server.close().closeAllConnections())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`
}

const BODIES = [
  '{"query":"{ hello }"}',
  '{"query":"{ fails }"}',
  '{"query":"{ nothing }"}',
  '{',
  ' '.repeat(201),
]

async function answers(url: string): Promise<string[]> {
  const seen: string[] = []
  for (const body of [...BODIES, ...BODIES, ...BODIES]) {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url, { method: 'POST', headers, body })
    const { date: _date, 'x-cache': _cache, age: _age, ...compared } = Object.fromEntries(response.headers)
    seen.push(`${response.status} ${JSON.stringify(compared)} ${await response.text()}`)
  }
  return seen
}

it('of a minified Yoga requests go the same ways, to the same answers', async () => {
  const plain = await answers(await listen(yogaOf({ createYoga }, [])))
  const code = String(minified.createYoga)
  expect(code.length).toBeLessThan(String(createYoga).length)

  const handler = createNodeHandler(
    yogaOf(minified, [useResponseCache(), usePipeline({ liftLiterals: true })]),
  )
  expect([handler.slowPathReasons, handler.uncachedReasons]).toEqual([[], []])
  streams = 0
  expect(await answers(await listen((...call) => void handler(...call)))).toEqual(plain)
  expect(await answers(await listen(yogaOf(minified, [useResponseCache()])))).toEqual(plain)
  expect(streams).toBe(0)
})
