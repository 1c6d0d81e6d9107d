import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort, startGrpcBackend, startRestBackend, type RestAnswer } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { downloadDocument } from '../src/commands/download-document.ts'
import { emptyFolder } from './support/folder.ts'
import { post } from './support/gateway.ts'

const PROTO = /* proto */ `
  syntax = "proto3";
  package hello.v1;
  message HelloRequest { string name = 1; }
  message HelloReply { string message = 1; }
  service Greeter {
    rpc GetHello(HelloRequest) returns (HelloReply);
    rpc CreateHello(HelloRequest) returns (HelloReply);
  }
`

function openApi(url: string): object {
  const pet = {
    type: 'object',
    properties: { id: { type: 'integer' }, name: { type: 'string' } },
  }
  const answer = { 200: { description: 'ok', content: { 'application/json': { schema: pet } } } }
  return {
    openapi: '3.0.3',
    info: { title: 'Pets', version: '1' },
    servers: [{ url }],
    paths: {
      '/pets/{id}': {
        get: {
          operationId: 'getPet',
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
          responses: answer,
        },
      },
    },
  }
}

describe('vinyasa init, check and start from an empty folder', () => {
  it('with a proto of one’s own', async () => {
    const backend = await startGrpcBackend({
      protos: PROTO,
      handlers: { 'hello.v1.Greeter/GetHello': async ({ name }) => ({ message: `Hello, ${name}` }) },
    })
    onTestFinished(() => backend.stop())
    const folder = await emptyFolder()
    await writeFile(join(folder.directory, 'greeter.proto'), PROTO)
    expect(await folder.command('init', 'greeter.proto', '--endpoint', backend.address)).toBe(0)
    expect(await folder.command('check')).toBe(0)
    expect(folder.out).toContain('schema   1 queries, 1 mutations, 0 subscriptions')
    const answer = await post(await folder.start(), { query: '{ getHello(name: "Ada") { message } }' })
    expect(await answer.json()).toEqual({ data: { getHello: { message: 'Hello, Ada' } } })
    expect(folder.err).toEqual([])
  }, 60_000)

  it('says once of a source which mutations seem to read, and the setting that makes them queries; check says it too', async () => {
    const folder = await emptyFolder()
    const names = 'FindA ReadA FetchA CountA QueryA LookupA DescribeA ShowA ExistsA findB getBooks DeleteA'
    const methods = names.split(' ').map((name) => `rpc ${name}(Q) returns (Q);`)
    await writeFile(
      join(folder.directory, 'a.proto'),
      `syntax = "proto3"; package a; message Q { string id = 1; } service S { ${methods.join(' ')} }`,
    )
    expect(await folder.command('init', 'a.proto', '--endpoint', '127.0.0.1:1')).toBe(0)
    await folder.command('check')
    const notes = folder.out.filter((line) => line.startsWith('note '))
    const note =
      'a.S.FindA, a.S.ReadA, a.S.FetchA, a.S.CountA, a.S.QueryA, a.S.LookupA, a.S.DescribeA, a.S.ShowA and 2 more: ' +
      'mapped to mutations, because the protos do not declare them as reads; if a method only reads, add "option idempotency_level = NO_SIDE_EFFECTS" ' +
      "to the proto, or set methods: { 'a.S.FindA': { schema: { type: 'QUERY' } } }"
    expect(notes).toEqual([`note     ${note}`, `note     a: ${note}`])
    const config = await readFile(join(folder.directory, 'gateway.config.yaml'), 'utf8')
    expect(config).toContain('# query        getBooks: a.S.getBooks')
  })

  it('with an OpenAPI document of one’s own, whose server is the base URL', async () => {
    const backend = await startRestBackend(({ url }) => ({
      json: { id: Number(url.pathname.split('/').at(-1)), name: 'Rex' },
    }))
    onTestFinished(() => backend.stop())
    const folder = await emptyFolder()
    await writeFile(join(folder.directory, 'pets.json'), JSON.stringify(openApi(backend.url)))
    expect(await folder.command('init', 'pets.json')).toBe(0)
    expect(await folder.command('check')).toBe(0)
    const answer = await post(await folder.start(), { query: '{ getPet(id: 7) { id name } }' })
    expect(await answer.json()).toEqual({ data: { getPet: { id: '7', name: 'Rex' } } })
    expect(folder.err).toEqual([])
  }, 60_000)

  it('with the URL of an OpenAPI document, which is kept beside the config', async () => {
    const asked: string[] = []
    const backend = await startRestBackend(({ url }) => {
      asked.push(url.pathname)
      return { json: url.pathname === '/docs/pets.json' ? openApi('../v1') : { id: 7, name: 'Rex' } }
    })
    onTestFinished(() => backend.stop())
    const folder = await emptyFolder()
    expect(await folder.command('init', `${backend.url}/docs/pets.json?key=secret`)).toBe(0)
    expect((await readdir(folder.directory)).toSorted()).toEqual(['gateway.config.yaml', 'openapi'])
    expect(await readdir(join(folder.directory, 'openapi'), { recursive: true })).toEqual([
      'pets',
      'pets/pets.json',
    ])
    expect(folder.out).toContain(`wrote    ${folder.directory}/openapi/pets/pets.json`)
    const config = await readFile(join(folder.directory, 'gateway.config.yaml'), 'utf8')
    expect(config).toContain(`documentUrl: ${backend.url}/docs/pets.json`)
    expect(config).not.toContain('secret')
    const answer = await post(await folder.start(), { query: '{ getPet(id: 7) { name } }' })
    expect(await answer.json()).toEqual({ data: { getPet: { name: 'Rex' } } })
    // Readiness does not probe an API that is not `required`.
    expect(asked).toEqual(['/docs/pets.json', '/v1/pets/7'])
    expect(folder.err).toEqual([])
  }, 60_000)

  it('with a document some of whose operations are at other servers', async () => {
    const asked: string[] = []
    const backends = await Promise.all(
      ['main', 'uploads'].map((name) =>
        startRestBackend(({ url }) => {
          asked.push(name + url.pathname)
          return { json: { id: 7, name } }
        }),
      ),
    )
    const [main, uploads] = backends.map(({ url }) => url)
    for (const one of backends) onTestFinished(() => one.stop())
    const folder = await emptyFolder()
    const document = openApi(main as string) as { paths: Record<string, any> }
    const { get } = document.paths['/pets/{id}']
    document.paths['/files/{id}'] = {
      servers: [{ url: `${uploads}/v2` }],
      get: { ...get, operationId: 'getFile' },
    }
    await writeFile(join(folder.directory, 'pets.json'), JSON.stringify(document))
    expect(await folder.command('init', 'pets.json')).toBe(0)
    expect(await readFile(join(folder.directory, 'gateway.config.yaml'), 'utf8')).toContain(
      'but 1 operation declares another server',
    )
    const answer = await post(await folder.start(), {
      query: '{ getPet(id: 7) { name } getFile(id: 8) { name } }',
    })
    expect(await answer.json()).toEqual({ data: { getPet: { name: 'main' }, getFile: { name: 'uploads' } } })
    expect(asked.filter((one) => /\d$/.test(one) && !one.endsWith('v2')).toSorted()).toEqual([
      'main/pets/7',
      'uploads/v2/files/8',
    ])
  }, 60_000)

  it('with a Swagger 2 document', async () => {
    const folder = await emptyFolder()
    const swagger = {
      swagger: '2.0',
      info: { title: 'Pets', version: '1' },
      host: '127.0.0.1:1',
      schemes: ['http'],
      basePath: '/v2',
      paths: { '/pet': { get: { operationId: 'pet', responses: { 200: { description: 'ok' } } } } },
    }
    await writeFile(join(folder.directory, 'pets.yaml'), stringify(swagger))
    expect(await folder.command('init', 'pets.yaml')).toBe(0)
    expect(await readFile(join(folder.directory, 'gateway.config.yaml'), 'utf8')).toContain(
      'baseUrl: http://127.0.0.1:1/v2',
    )
    // Nobody is at home there.
    expect(await folder.command('check')).toBe(1)
    expect(folder.out).toContain('schema   1 queries, 0 mutations, 0 subscriptions')
    expect(folder.err).toEqual([expect.stringContaining('pets: not reachable')])
  })

  it.each([
    ['http://127.0.0.1:1', 'http://127.0.0.1:1/v2'],
    ['http://127.0.0.1:1/', 'http://127.0.0.1:1/v2'],
    ['http://127.0.0.1:1/prod', 'http://127.0.0.1:1/prod'],
  ])('with a document that says a path alone, at %s', async (endpoint, baseUrl) => {
    const paths = { '/pet': { get: { operationId: 'pet', responses: { 200: { description: 'ok' } } } } }
    const info = { title: 'Pets', version: '1' }
    for (const document of [
      { swagger: '2.0', info, basePath: '/v2', paths },
      { openapi: '3.0.3', info, servers: [{ url: '/v2' }], paths },
    ]) {
      const folder = await emptyFolder()
      await writeFile(join(folder.directory, 'pets.yaml'), stringify(document))
      expect(await folder.command('init', 'pets.yaml', '--endpoint', endpoint)).toBe(0)
      const config = await readFile(join(folder.directory, 'gateway.config.yaml'), 'utf8')
      expect(config).toContain(`baseUrl: ${baseUrl}\n`)
    }
  })

  it('says in the config what of a document is left out', async () => {
    const folder = await emptyFolder()
    const document = openApi('http://127.0.0.1:1') as { paths: Record<string, object> }
    const requestBody = { required: true, content: { 'application/json': {} } }
    document.paths['/odd'] = { get: { requestBody, responses: {} } }
    await writeFile(join(folder.directory, 'pets.json'), JSON.stringify(document))
    expect(await folder.command('init', 'pets.json')).toBe(0)
    expect(await readFile(join(folder.directory, 'gateway.config.yaml'), 'utf8')).toMatch(
      /^# #\/paths\/~1odd\/get: GET \/odd is skipped: .*body/m,
    )
  })

  it('says in the config which variables hold the credentials that a document asks for', async () => {
    const folder = await emptyFolder()
    const security = {
      security: [{ userToken: [] }, { key: [] }],
      components: {
        securitySchemes: {
          userToken: { type: 'http', scheme: 'bearer' },
          key: { type: 'apiKey', in: 'header', name: 'x-key' },
        },
      },
    }
    await writeFile(
      join(folder.directory, 'pets.json'),
      JSON.stringify({ ...openApi('http://127.0.0.1:1'), ...security }),
    )
    expect(await folder.command('init', 'pets.json')).toBe(0)
    const config = await readFile(join(folder.directory, 'gateway.config.yaml'), 'utf8')
    expect(config).toContain('# Credentials for "userToken" are read from PETS_TOKEN.\n')
    expect(config).toContain('# Credentials for "key" are read from PETS_API_KEY.\n')
  })

  it('asks for what the command line leaves open', async () => {
    const folder = await emptyFolder(['greeter.proto', 'grpc.example:443'])
    await writeFile(join(folder.directory, 'greeter.proto'), PROTO)
    expect(await folder.command('init')).toBe(0)
    expect(await readFile(join(folder.directory, 'gateway.config.yaml'), 'utf8')).toContain(
      'endpoint: grpc.example:443',
    )
  })
})

describe('vinyasa init: what cannot be used is one line, and nothing is written', () => {
  it.each([
    ['no file', ['init'], /init: expected a file/],
    ['a file that is not there', ['init', 'nope.proto'], /nope\.proto: no such file/],
    [
      'a file of another kind',
      ['init', 'notes.yaml'],
      /expected a \.proto file, a descriptor set or an OpenAPI document/,
    ],
  ])('%s', async (_, args, line) => {
    const folder = await emptyFolder()
    await writeFile(join(folder.directory, 'notes.yaml'), 'a: 1')
    expect(await folder.command(...args)).toBe(1)
    expect(folder.err).toHaveLength(1)
    expect(folder.err[0]).toMatch(line)
    expect(await readdir(folder.directory)).toEqual(['notes.yaml'])
  })

  it('a config that is already there', async () => {
    const folder = await emptyFolder()
    await writeFile(join(folder.directory, 'gateway.config.yaml'), 'mine: true')
    await writeFile(join(folder.directory, 'greeter.proto'), PROTO)
    expect(await folder.command('init', 'greeter.proto')).toBe(1)
    expect(folder.err[0]).toMatch(/gateway\.config\.yaml exists already/)
    expect(await readFile(join(folder.directory, 'gateway.config.yaml'), 'utf8')).toBe('mine: true')
  })
})

describe('vinyasa init: a document that is no good leaves nothing behind', () => {
  it.each<[string, RestAnswer, RegExp]>([
    [
      'a page',
      { body: '<html></html>', headers: { 'content-type': 'text/html' } },
      /\/openapi: expected OpenAPI 3 or Swagger 2.*an HTML page.*\/openapi\.json/,
    ],
    ['a refusal', { status: 403, json: openApi('/') }, /\/openapi: the server responded with status 403/],
  ])('%s', async (_, answer, line) => {
    const backend = await startRestBackend(() => answer)
    onTestFinished(() => backend.stop())
    const folder = await emptyFolder()
    expect(await folder.command('init', `${backend.url}/openapi`)).toBe(1)
    expect(folder.err).toEqual([expect.stringMatching(line)])
    expect(await readdir(folder.directory)).toEqual([])
  })

  it('a server that is not there', async () => {
    const folder = await emptyFolder()
    expect(await folder.command('init', `http://127.0.0.1:${await freePort()}/openapi.json`)).toBe(1)
    expect(folder.err).toEqual([expect.stringContaining('ECONNREFUSED')])
  })

  it('one that is too long, too slow, or called like a folder that is there', async () => {
    let cancelled = 0
    const server = createServer((request, response) => {
      response.on('close', () => cancelled++)
      response.write('{')
      if (request.url === '/long.json') response.write(' '.repeat(4096))
      if (request.url === '/mine.json') response.end('"openapi": "3.0.3"}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { directory } = await emptyFolder()
    await mkdir(join(directory, 'openapi/mine'), { recursive: true })
    await expect(downloadDocument(`${url}/long.json`, directory, { maxBytes: 1000 })).rejects.toThrow(
      'limit of 1000 bytes',
    )
    await expect(downloadDocument(`${url}/slow.json`, directory, { timeoutMs: 50 })).rejects.toThrow(
      'timeout',
    )
    await expect(downloadDocument(`${url}/mine.json`, directory)).rejects.toThrow(
      'openapi/mine exists already',
    )
    expect(await readdir(directory, { recursive: true })).toEqual(['openapi', 'openapi/mine'])
    await expect.poll(() => cancelled).toBe(3)
  })
})
