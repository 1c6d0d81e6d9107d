import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort, startRestBackend, temporaryFolder } from '@vinyasa/test-kit'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { run } from '../src/cli.ts'
import type { CommandContext } from '../src/commands/context.ts'

// Commands load it when they run; from sources that takes long, which no test is about.
beforeAll(() => import('../src/commands/run-gateway.ts'), 120_000)

interface Run {
  readonly code: Promise<number>
  readonly out: string[]
  readonly err: string[]
  stop(): void
}

async function folderWith(name: string, text: string): Promise<string> {
  const directory = await temporaryFolder('cli')
  await writeFile(join(directory, name), text)
  return directory
}

function runIn(
  directory: string,
  args: string[],
  environment: Record<string, string> = {},
  more: Partial<CommandContext> = {},
): Run {
  const shutdown = new AbortController()
  const out: string[] = []
  const err: string[] = []
  const context: CommandContext = {
    directory,
    environment,
    shutdown: shutdown.signal,
    reload: new EventTarget(),
    print: (text) => out.push(text),
    printError: (text) => err.push(text),
    ...more,
  }
  return { code: run(args, context), out, err, stop: () => shutdown.abort() }
}

const REST = (baseUrl: string, more = ''): string => `
log: { level: silent }
rest:
  shop:
    base_url: ${baseUrl}
    endpoints:
      - { name: getProduct, path: '/products/{id}', args: { id: ID! } }
${more}`

describe('a config that cannot be used: exit code 1 and one line that names the path and the fix', () => {
  it.each([
    [
      'an unknown setting',
      'sever: {}',
      /gateway\.config\.yaml:1:1: sever: unknown setting; did you mean server\?$/,
    ],
    ['a wrong type', 'server: { port: high }', /server\.port: expected number, received string$/],
    ['no source at all', 'server: { port: 0 }', /the schema has no query field; add a grpc or rest source/],
    [
      'types alone, without a query',
      'typeDefs: "type User { id: ID! }"',
      /the schema has no query field; add a grpc or rest source/,
    ],
    ['text that is no YAML', 'server: {', /gateway\.config\.yaml:1:10: /],
    [
      'an unset variable',
      'rest: { shop: { base_url: "${NOPE}" } }',
      /rest\.shop\.base_url: the environment variable NOPE is not set/,
    ],
    [
      'a Redis address that is none',
      'redisUrl: localhost',
      /redisUrl: not a valid Redis URL; expected redis:/,
    ],
    [
      'a Redis that is not there',
      'redisUrl: redis://127.0.0.1:1',
      /redisUrl: cannot connect to 127\.0\.0\.1:1 \(.*ECONNREFUSED.*\)/,
    ],
    ['a base URL that is none', REST('nowhere'), /rest\.shop: .*baseUrl "nowhere" is not an absolute URL/],
  ])('%s', async (_, text, line) => {
    const { code, out, err } = runIn(await folderWith('gateway.config.yaml', text), ['start'])
    expect(await code).toBe(1)
    expect(err).toHaveLength(1)
    expect(err[0]).toMatch(line)
    expect(err[0]).not.toContain('\n')
    expect(out).toEqual([])
  })

  it('no config file: names what it looked for and how to make one', async () => {
    const { code, err } = runIn(await temporaryFolder('cli'), ['start'])
    expect(await code).toBe(1)
    expect(err[0]).toContain('create a config with `vinyasa init`')
  })

  it('a taken port: names it', async () => {
    const backend = await startRestBackend()
    onTestFinished(() => backend.stop())
    const directory = await folderWith('gateway.config.yaml', REST(backend.url))
    const { code, err } = runIn(directory, ['start', '--port', String(backend.port)])
    expect(await code).toBe(1)
    expect(err[0]).toBe(
      `vinyasa: server.port: ${backend.port} is already in use on 127.0.0.1; stop the other process, or pass --port`,
    )
  })
})

it('all mistakes of a file are printed, a line each', async () => {
  const { code, err } = runIn(await folderWith('gateway.config.yaml', 'sever: 1\nstatus: 1\n'), ['start'])
  expect(await code).toBe(1)
  expect(err).toEqual([
    expect.stringMatching(/^vinyasa: .*gateway\.config\.yaml:1:1: sever: unknown setting/),
    expect.stringMatching(/^vinyasa: .*gateway\.config\.yaml:2:9: status: expected boolean/),
  ])
})

it('says that it serves, once, when it listens and not before', async () => {
  const own = 'log: { level: silent }\ntypeDefs: "type Query { a: Int }"\n'
  const directory = await folderWith('gateway.config.yaml', own)
  const served = vi.fn()
  const serving = runIn(directory, ['start', '--port', '0'], {}, { onServing: served })
  await vi.waitFor(() => expect(served).toHaveBeenCalled(), 30_000)
  serving.stop()
  expect([await serving.code, served.mock.calls.length]).toEqual([0, 1])

  const taken = await startRestBackend()
  onTestFinished(() => taken.stop())
  const refused = runIn(directory, ['start', '--port', String(taken.port)], {}, { onServing: served })
  expect([await refused.code, served.mock.calls.length]).toEqual([1, 1])
})

describe('the port, where neither config nor command line say it', () => {
  const OWN = 'log: { level: silent }\ntypeDefs: "type Query { a: Int }"\n'

  it.each([
    ['is that of PORT', OWN, [], true],
    ['is not that of PORT where the config says it', `${OWN}server: { port: 0 }\n`, [], false],
    ['is not that of PORT where the command line says it', OWN, ['--port', '0'], false],
  ])('%s', async (_, text, args, isTaken) => {
    const other = await startRestBackend()
    onTestFinished(() => other.stop())
    const directory = await folderWith('gateway.config.yaml', text)
    const { code, stop, err } = runIn(directory, ['start', ...args], { PORT: String(other.port) })
    stop()
    const taken = expect.stringContaining(`server.port: ${other.port} is already in use`)
    expect([await code, err]).toEqual(isTaken ? [1, [taken]] : [0, []])
  })

  it('must be one', async () => {
    const { code, err } = runIn(await folderWith('gateway.config.yaml', OWN), ['start'], { PORT: 'high' })
    expect([await code, err]).toEqual([1, [expect.stringMatching(/^vinyasa: PORT: .*whole number from 0/)]])
  })
})

it('vinyasa schema prints the JSON Schema of config files', async () => {
  const { code, out } = runIn('/', ['schema'])
  expect(await code).toBe(0)
  expect(JSON.parse(out.join(''))).toMatchObject({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    properties: { server: { properties: { port: {} } } },
  })
})

describe('a TypeScript config', () => {
  const text = (name: string): string => `const name: string = '${name}'
    export default { typeDefs: \`type Query { \${name}: String }\` }`

  async function schemaIn(directory: string): Promise<string> {
    const { code, out, err } = runIn(directory, ['print-schema'])
    expect([await code, err]).toEqual([0, []])
    return out.join('')
  }

  it('is compiled once, for nobody else to read, and again when it has changed', async () => {
    const directory = await folderWith('gateway.config.ts', text('first'))
    const cache = join(directory, 'node_modules', '.cache', 'vinyasa')
    await mkdir(join(directory, 'node_modules'))
    expect(await schemaIn(directory)).toContain('first: String')
    expect((await stat(cache)).mode & 0o077).toBe(0)
    const [kept = ''] = await readdir(cache)
    const { mtimeMs } = await stat(join(cache, kept))
    expect(await schemaIn(directory)).toContain('first: String')
    expect((await stat(join(cache, kept))).mtimeMs).toBe(mtimeMs)

    await writeFile(join(directory, 'gateway.config.ts'), text('second'))
    expect(await schemaIn(directory)).toContain('second: String')
  })

  it('that is none is reported, with and without a folder to keep it in', async () => {
    const directory = await folderWith('gateway.config.ts', 'export default {')
    const line = /gateway\.config\.ts: ParseError: Unexpected token/
    const first = runIn(directory, ['start'])
    expect([await first.code, first.err]).toEqual([1, [expect.stringMatching(line)]])
    await mkdir(join(directory, 'node_modules'))
    const second = runIn(directory, ['start'])
    expect([await second.code, second.err]).toEqual([1, [expect.stringMatching(line)]])
  })

  it('is read where nothing can be kept', async () => {
    const directory = await folderWith('gateway.config.ts', text('first'))
    await writeFile(join(directory, 'node_modules'), 'not a folder')
    expect(await schemaIn(directory)).toContain('first: String')
  })
})

describe('vinyasa check', () => {
  it('prints what it found and succeeds when every backend answers', async () => {
    const backend = await startRestBackend(() => ({ json: {} }))
    onTestFinished(() => backend.stop())
    const directory = await folderWith('gateway.config.yaml', REST(backend.url, '    healthPath: /health'))
    const { code, out } = runIn(directory, ['check'])
    expect(await code).toBe(0)
    expect(out.slice(1)).toEqual([
      'schema   1 queries, 0 mutations, 0 subscriptions',
      "undeclared Query.getProduct depends on unknown types, so every mutation invalidates responses with this field; declare the types: dependencies: { 'Query.getProduct': { dependsOn: [...] } }",
      'source   shop: ok',
    ])
  })

  it('asks an API that says nothing of its health whether it answers at all', async () => {
    const backend = await startRestBackend(() => ({ status: 500, json: {} }))
    onTestFinished(() => backend.stop())
    const gone = `http://127.0.0.1:${await freePort()}`
    for (const [url, more, expected] of [
      [backend.url, '', 'ok'],
      [gone, '', 'not reachable (connect ECONNREFUSED'],
      [gone, '    healthPath: false', 'ok'],
    ] as const) {
      const { code, out } = runIn(await folderWith('gateway.config.yaml', REST(url, more)), ['check'])
      expect(await code).toBe(expected === 'ok' ? 0 : 1)
      expect(out.at(-1)).toContain(`source   shop: ${expected}`)
    }
    expect(backend.requests.map(({ method }) => method)).toEqual(['HEAD'])
  })

  it('fails, naming registered documents that the schema does not answer', async () => {
    const backend = await startRestBackend(() => ({ json: {} }))
    onTestFinished(() => backend.stop())
    const written = `${REST(backend.url)}persistedDocuments: { from: [relay.json, documents] }\n`
    const directory = await folderWith('gateway.config.yaml', written)
    const good = {
      plain: 'query { getProduct(id: "1") }',
      live: 'query @live { getProduct(id: "1") }',
      deferred: 'query { ... @defer { getProduct(id: "1") } }',
    }
    await mkdir(join(directory, 'documents'))
    await writeFile(join(directory, 'documents/Old.graphql'), 'query Old($id: ID!) { getProducts(id: $id) }')
    const write = (more: object): Promise<void> =>
      writeFile(join(directory, 'relay.json'), JSON.stringify({ ...good, ...more }))
    await write({ argument: '{ getProduct }', text: '{ getProduct(id: ' })
    const { code, out, err } = runIn(directory, ['check'])
    expect(await code).toBe(1)
    expect(out.filter((line) => line.startsWith('document'))).toEqual([
      'document argument: Field "getProduct" argument "id" of type "ID!" is required, but it was not provided.',
      'document text: Syntax Error: Unexpected <EOF>.',
      'document Old: Cannot query field "getProducts" on type "Query". Did you mean "getProduct"?',
    ])
    expect(err).toEqual([
      'vinyasa: persistedDocuments: 3 documents are invalid for the schema; correct or regenerate the documents',
    ])
    await write({})
    await rm(join(directory, 'documents/Old.graphql'))
    expect(await runIn(directory, ['check']).code).toBe(0)
  })

  it('fails, naming the source, when a backend cannot be reached', async () => {
    const directory = await folderWith(
      'gateway.config.yaml',
      REST(`http://127.0.0.1:${await freePort()}`, '    healthPath: /health'),
    )
    const { code, out, err } = runIn(directory, ['check'])
    expect(await code).toBe(1)
    expect(out.at(-1)).toMatch(/^source {3}shop: not reachable \(.*ECONNREFUSED/)
    expect(err).toEqual(['vinyasa: shop: not reachable; start the backend, or correct its address'])
  })
})

describe('vinyasa print-schema', () => {
  it('prints SDL', async () => {
    const { code, out } = runIn(await folderWith('gateway.config.yaml', REST('http://127.0.0.1:9')), [
      'print-schema',
    ])
    expect(await code).toBe(0)
    expect(out.join('\n')).toContain('getProduct(id: ID!): JSON')
  })
})

describe('vinyasa start', () => {
  it('serves until it is told to stop, then resolves', async () => {
    const backend = await startRestBackend(() => ({ json: { id: '1' } }))
    onTestFinished(() => backend.stop())
    const port = await freePort()
    const { code, stop } = runIn(await folderWith('gateway.config.yaml', REST(backend.url)), [
      'start',
      '--port',
      String(port),
    ])
    await expect.poll(() => ready(port)).toBe(200)
    const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ getProduct(id: 1) }' }),
    })
    expect(await response.json()).toEqual({ data: { getProduct: { id: '1' } } })
    stop()
    expect(await code).toBe(0)
    await expect(ready(port)).rejects.toThrow('fetch failed')
  })
})

async function ready(port: number): Promise<number> {
  return (await fetch(`http://127.0.0.1:${port}/health/ready`)).status
}
