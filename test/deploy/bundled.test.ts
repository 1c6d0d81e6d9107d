import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type SpawnedProcess, spawnProcess, startRestBackend, temporaryFolder } from '@vinyasa/test-kit'
import { rolldown } from 'rolldown'
import { expect, it, onTestFinished } from 'vitest'

const GATEWAY = fileURLToPath(new URL('../../apps/gateway/dist/index.js', import.meta.url))
const CACHE = fileURLToPath(new URL('../../packages/response-cache/dist/index.js', import.meta.url))
const REDIS = fileURLToPath(new URL('../../packages/response-cache/dist/redis/index.js', import.meta.url))
const YOGA = createRequire(CACHE).resolve('graphql-yoga')
const PINO = createRequire(GATEWAY).resolve('pino')

/** A program in one file, in a folder that has nothing else. Above it is another package. */
async function bundled(program: string): Promise<string> {
  const source = await temporaryFolder('bundled')
  await writeFile(join(source, 'main.js'), program)
  await writeFile(join(source, 'package.json'), '{"name":"other","version":"9.9.9"}')
  const bundle = await rolldown({ input: join(source, 'main.js'), platform: 'node', logLevel: 'silent' })
  const file = join(source, 'alone', 'main.mjs')
  await bundle.write({ file, format: 'esm', codeSplitting: false })
  await bundle.close()
  return file
}

async function started(file: string, ready: RegExp): Promise<SpawnedProcess> {
  // What runs the tests may name folders of packages there.
  const env = { NODE_PATH: undefined }
  const program = await spawnProcess({ command: process.execPath, args: [file], env, ready })
  onTestFinished(() => program[Symbol.asyncDispose]())
  return program
}

it('a gateway in a bundle of one file starts and serves answers, GraphiQL and the status page', async () => {
  const backend = await startRestBackend(() => ({ json: 'Ran' }))
  onTestFinished(() => backend.stop())
  const rest = { films: { baseUrl: backend.url, endpoints: [{ name: 'film', path: '/film' }] } }
  const file = await bundled(`
    import { createGateway, serve } from ${JSON.stringify(GATEWAY)}
    import { pino } from ${JSON.stringify(PINO)}
    const logger = pino({ level: 'warn' })
    const config = ${JSON.stringify({ status: true, graphiql: true, rest })}
    const gateway = await createGateway(config, { baseDirectory: '.', logger })
    console.log('at ' + (await serve(gateway, { port: 0 })).url)
  `)
  const program = await started(file, /^at (.*)$/)
  const url = program.ready?.[1]
  const read = async (path: string, init?: RequestInit): Promise<string> =>
    (await fetch(`${url}${path}`, init)).text()
  const headers = { 'content-type': 'application/json' }
  const body = '{"query":"{ film }"}'
  expect(await read('/graphql', { method: 'POST', headers, body })).toBe('{"data":{"film":"Ran"}}')
  expect(await read('/graphql', { headers: { accept: 'text/html' } })).toContain('besideGraphiQL')
  expect(await read('/status')).toContain('<!doctype html>')
  // The version of the package that the bundle happens to lie in is not the gateway's.
  expect(await read('/status', { headers: { accept: 'application/json' } })).not.toContain('9.9.9')
}, 60_000)

it('a cache in a bundle says how it gets to Redis, and does so', async () => {
  const file = await bundled(`
    import { createSchema, createYoga } from ${JSON.stringify(YOGA)}
    import { useResponseCache } from ${JSON.stringify(CACHE)}
    import { createRedisStore } from ${JSON.stringify(REDIS)}
    const schema = createSchema({ typeDefs: 'type Query { a: Int }', resolvers: { Query: { a: () => 1 } } })
    const answer = async (options) => {
      const yoga = createYoga({ schema, logging: false, plugins: [useResponseCache(options)] })
      return (await yoga.fetch('http://localhost/graphql?query={a}')).text()
    }
    console.log(await answer({ redisUrl: 'redis://localhost:1' }).catch(({ message }) => message))
    const store = createRedisStore({ url: 'redis://localhost:1' })
    console.log(await answer({ store }))
    await store.close()
    console.log('over')
  `)
  const program = await started(file, /^over$/)
  const [refused, ...others] = program.lines
  expect(refused).toContain('If you bundle the server, use store: createRedisStore({ url })')
  expect(others).toEqual(['{"data":{"a":1}}', 'over'])
}, 60_000)
