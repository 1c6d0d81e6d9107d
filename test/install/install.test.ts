import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeBlocks } from '@vinyasa/test-kit'
import { afterAll, describe, expect, inject, it } from 'vitest'
import {
  install,
  makeProject,
  type Manager,
  managers,
  type NodeVersion,
  type Project,
} from './support/managers.ts'

const tools = inject('tools')
const registry = inject('registry')
const plugins = inject('published').filter((name) => name !== '@vinyasa/gateway')

/** The ends of what the packages claim; graphql 17 itself does not take Node 20. */
const ENDS: readonly { readonly node: NodeVersion; readonly graphql: string }[] = [
  { node: 'node-lowest', graphql: '16.9.0' },
  { node: 'node-newest', graphql: '17.1.0' },
]

type Versions = Readonly<Record<string, string>>

function project(node: NodeVersion, dependencies: Versions, overrides = overridesFor(node)): Project {
  const folder = mkdtempSync(join(tmpdir(), 'vinyasa-project-'))
  ends.push(() => rmSync(folder, { recursive: true, force: true }))
  return makeProject(folder, { tools, registry, node, dependencies, overrides })
}

const page = codeBlocks(readFileSync(new URL('../../docs/install.md', import.meta.url), 'utf8'))

/** What the page about installation has readers write into their package.json. */
function manifestOfPage(): { readonly overrides: Versions; readonly scripts: Versions } {
  const blocks = page.filter(({ file }) => file === 'package.json')
  return Object.assign({}, ...blocks.map(({ code }) => JSON.parse(code)))
}

function overridesFor(node: NodeVersion): Versions {
  return node === 'node-lowest' ? manifestOfPage().overrides : {}
}

const ends: (() => void)[] = []
afterAll(() => ends.forEach((end) => end()))

const EXAMPLE = `
import { createServer } from 'node:http'
import { createInvalidationBus } from '@vinyasa/invalidation'
import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { createGrpcSource, useGrpcSource } from '@vinyasa/grpc-source'
import { useLiveQuery } from '@vinyasa/live-query'
import { createNodeHandler } from '@vinyasa/node-handler'
import { useResponseCache } from '@vinyasa/response-cache'
import { createRestConnector, useRestConnector } from '@vinyasa/rest-connector'
import { createYoga } from 'graphql-yoga'

const api = createServer((_, response) => response.end('{"id":"1","name":"Ada"}')).listen(0)
const bus = createInvalidationBus()
const rest = createRestConnector('api', {
  baseUrl: 'http://127.0.0.1:' + api.address().port,
  endpoints: [{ name: 'user', path: '/users/{id}' }],
  bus,
})
const grpc = await createGrpcSource({
  name: 'greeter',
  protoText: { 'greeter.proto': 'syntax = "proto3"; message A { string b = 1; } service S { rpc GetA(A) returns (A); }' },
  protoFiles: ['greeter.proto'],
  endpoint: '127.0.0.1:1',
  expose: 'all',
  bus,
})
const yoga = createYoga({
  plugins: [useRestConnector(rest), useGrpcSource(grpc), useResponseCache({ bus }), useDeferSplitter(), useLiveQuery({ bus })],
})
const server = createServer(createNodeHandler(yoga)).listen(0)
const response = await fetch('http://127.0.0.1:' + server.address().port + '/graphql', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ query: '{ user(id: "1") }' }),
})
console.log(await response.text())
process.exit()
`

async function answerOf(at: Project): Promise<unknown> {
  writeFileSync(join(at.folder, 'example.js'), EXAMPLE)
  return JSON.parse(await at.run([at.node, 'example.js']))
}

const cells = managers.flatMap((manager) => ENDS.map((end) => ({ ...end, manager, name: manager.name })))

describe('all plugins beside graphql-yoga', () => {
  it.concurrent.each(cells)('$name on $node with graphql $graphql', async ({ manager, node, graphql }) => {
    const dependencies = {
      ...Object.fromEntries(plugins.map((name) => [name, '*'])),
      graphql,
      'graphql-yoga': '^5.24.1',
    }
    const at = project(node, dependencies)
    await install(at, manager, tools)
    expect(await answerOf(at)).toEqual({ data: { user: { id: '1', name: 'Ada' } } })
  })
})

describe('the gateway', () => {
  const ofManagers: readonly (readonly [Manager, NodeVersion])[] = managers.map((manager, index) => [
    manager,
    index % 2 === 0 ? 'node-lowest' : 'node-newest',
  ])
  it.concurrent.each(ofManagers)('$name', async (manager, node) => {
    const at = project(node, { '@vinyasa/gateway': '*' })
    await install(at, manager, tools)
    writeFileSync(
      join(at.folder, 'gateway.config.yaml'),
      'rest: { api: { base_url: "http://127.0.0.1:1", health_path: false, endpoints: [{ name: user, path: /u }] } }',
    )
    const main = join(at.folder, 'node_modules/@vinyasa/gateway/dist/main.js')
    expect(await at.run([at.node, main, 'check'])).toContain('schema   1 queries')
  })
})

const [npm] = managers as readonly [Manager]

/** A test of both runners: it imports each package, and has a server of its own schema answer from the cache. */
const RUNNERS_TEST = `
import { GraphQLInt, GraphQLObjectType, GraphQLSchema } from 'graphql'
import { createYoga } from 'graphql-yoga'
import { useResponseCache } from '@vinyasa/response-cache'
${plugins.map((name, index) => `import * as package${index} from '${name}'`).join('\n')}

test('the packages work', async () => {
  const packages = [${plugins.map((_, index) => `package${index}`).join(', ')}]
  for (const names of packages) expect(Object.keys(names).length).toBeGreaterThan(0)
  const fields = { a: { type: GraphQLInt, resolve: () => 1 } }
  const schema = new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields }) })
  const yoga = createYoga({ schema, plugins: [useResponseCache()] })
  const ask = () => yoga.fetch('http://localhost/graphql?query={a}')
  expect(await (await ask()).json()).toEqual({ data: { a: 1 } })
  expect((await ask()).headers.get('x-cache')).toBe('HIT')
})
`

describe('runners of tests', () => {
  it('vitest and jest load each package as the page says', async () => {
    const dependencies = {
      ...Object.fromEntries(plugins.map((name) => [name, '*'])),
      graphql: '16.9.0',
      'graphql-yoga': '^5.24.1',
      jest: '^30.0.0',
      vitest: '^4.1.0',
    }
    const at = project('node-lowest', dependencies)
    await install(at, npm, tools)
    writeFileSync(join(at.folder, 'packages.test.js'), RUNNERS_TEST)
    const vitest = [at.node, join(at.folder, 'node_modules/vitest/vitest.mjs'), 'run', '--globals']
    await expect(at.run(vitest)).rejects.toThrow('from another module or realm')
    const config = page.find(({ file }) => file === 'vitest.config.mjs')
    writeFileSync(join(at.folder, 'vitest.config.mjs'), config?.code ?? '')
    expect(await at.run(vitest)).toContain('1 passed')
    const bin = join(at.folder, 'node_modules/.bin')
    const { test = '' } = manifestOfPage().scripts
    await at.run(['sh', '-c', `PATH="${bin}:$PATH" ${test}`])
    const plain = test.replace(/^\S+ /, '')
    await expect(at.run(['sh', '-c', `PATH="${bin}:$PATH" ${plain}`])).rejects.toThrow(
      'Must use import to load ES Module',
    )
  })
})

describe('what can stand in the way', () => {
  it.concurrent('without the overrides engines are refused on Node 20 for packages that are not ours', async () => {
    const at = project('node-lowest', { '@vinyasa/gateway': '*' }, {})
    await expect(install(at, npm, tools)).rejects.toThrow(/EBADENGINE[^]*@whatwg-node\//)
  })

  it.concurrent('the bus over Redis beside ioredis 6', async () => {
    const at = project('node-newest', { '@vinyasa/invalidation': '*', graphql: '16.15.0', ioredis: '^6.0.0' })
    await install(at, npm, tools)
    const program = `import { createRedisInvalidationBus } from '@vinyasa/invalidation/redis'
      console.log(typeof createRedisInvalidationBus)`
    writeFileSync(join(at.folder, 'bus.js'), program)
    expect(await at.run([at.node, 'bus.js'])).toBe('function\n')
  })

  it.concurrent('a plugin with another graphql than the gateway is refused with both versions', async () => {
    const at = project('node-newest', { '@vinyasa/gateway': '*', graphql: '17.1.0' })
    await install(at, npm, tools)
    const plugin = join(at.folder, 'node_modules/a-plugin')
    mkdirSync(plugin)
    writeFileSync(
      join(plugin, 'package.json'),
      '{ "name": "a-plugin", "type": "module", "exports": "./index.js" }',
    )
    writeFileSync(
      join(plugin, 'index.js'),
      "import { GraphQLError } from 'graphql'\nexport const plugin = { GraphQLError }\n",
    )
    const config =
      "import { plugin } from 'a-plugin'\nexport default { plugins: [plugin], typeDefs: 'type Query { a: Int }' }\n"
    writeFileSync(join(at.folder, 'gateway.config.js'), config)
    const main = join(at.folder, 'node_modules/@vinyasa/gateway/dist/main.js')
    await expect(at.run([at.node, main, 'start', '--port', '0'])).rejects.toThrow(
      /17\.1\.0[^]*16\.|16\.[^]*17\.1\.0/,
    )
  })
})
