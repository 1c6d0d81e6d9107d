import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, posix, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { importOpenApi, type OpenApiOptions } from '@vinyasa/rest-connector'
import { createDisposables, freePort, startRestBackend, type RestAnswer } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { run } from '../src/cli.ts'
import { downloadDocument } from '../src/commands/download-document.ts'

type DownloadOptions = NonNullable<OpenApiOptions['download']>

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

/** A file of schemas: what each is called there, and the schemas that it refers to, by their places in the list of files. */
interface DrawnFile {
  readonly folder: string
  readonly isJson: boolean
  readonly refs: readonly { readonly to: number; readonly form: 'relative' | 'rooted' | 'absolute' }[]
}

const drawn: fc.Arbitrary<readonly DrawnFile[]> = fc.integer({ min: 1, max: 6 }).chain((count) =>
  fc.array(
    fc.record<DrawnFile>({
      folder: fc.constantFrom('/api/v1', '/api/v1/schemas', '/api/shared', '/common', '/api/a b'),
      isJson: fc.boolean(),
      refs: fc.array(
        fc.record({
          to: fc.nat(count - 1),
          form: fc.constantFrom('relative' as const, 'rooted' as const, 'absolute' as const),
        }),
        { maxLength: 3 },
      ),
    }),
    { minLength: count, maxLength: count },
  ),
)

/** The texts by their paths on the server; `origin`: undefined makes every reference a relative one. */
function written(files: readonly DrawnFile[], origin: string | undefined): Record<string, string> {
  const root = '/api/v1/openapi.yaml'
  const pathOf = (index: number): string => {
    const { folder = '', isJson } = files[index] ?? {}
    return `${folder}/s${index}.${isJson ? 'json' : 'yaml'}`
  }
  const refTo = (from: string, to: number, form: string): string => {
    const path = pathOf(to).replaceAll(' ', '%20')
    const own = posix.dirname(from).replaceAll(' ', '%20')
    const address =
      origin === undefined || form === 'relative'
        ? posix.relative(own, path)
        : `${form === 'absolute' ? origin : ''}${path}`
    return `${address}#/S${to}`
  }
  const schemaOf = ({ refs }: DrawnFile, index: number): object => ({
    type: 'object',
    properties: {
      id: { type: 'string' },
      ...Object.fromEntries(
        refs.map(({ to, form }, place) => [`r${place}`, { $ref: refTo(pathOf(index), to, form) }]),
      ),
    },
  })
  const responses = (index: number) => ({
    200: {
      description: 'ok',
      content: {
        'application/json': { schema: { $ref: refTo(root, index, files[index]?.refs[0]?.form ?? 'rooted') } },
      },
    },
  })
  return {
    [root]: stringify({
      openapi: '3.0.3',
      info: { title: 't', version: '1' },
      servers: [{ url: '../v2' }],
      paths: Object.fromEntries(
        files.map((_, index) => [
          `/p${index}`,
          { get: { operationId: `get${index}`, responses: responses(index) } },
        ]),
      ),
    }),
    ...Object.fromEntries(
      files.map((file, index) => {
        const schemas = { [`S${index}`]: schemaOf(file, index) }
        return [pathOf(index), file.isJson ? JSON.stringify(schemas) : stringify(schemas)]
      }),
    ),
  }
}

async function serve(files: Readonly<Record<string, string | RestAnswer>>) {
  return cleanup.use(
    await startRestBackend(({ url }) => {
      const given = files[decodeURIComponent(url.pathname)]
      if (given === undefined) return { status: 404 }
      return typeof given === 'string' ? { body: given } : given
    }),
  )
}

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'vinyasa-openapi-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

it('a document of many files is the same from its URL, kept of it, and from files, however they refer to each other', async () => {
  const folder = await emptyFolder()
  let run = 0
  await fc.assert(
    fc.asyncProperty(drawn, async (files) => {
      const own = join(folder, String(run++))
      let texts: Record<string, string> = {}
      const backend = await startRestBackend(({ url }) => ({
        body: texts[decodeURIComponent(url.pathname)] ?? '',
      }))
      texts = written(files, backend.url)
      const documentUrl = `${backend.url}/api/v1/openapi.yaml`
      try {
        const plain = written(files, undefined)
        for (const [path, text] of Object.entries(plain)) {
          await mkdir(join(own, 'plain', dirname(path)), { recursive: true })
          await writeFile(join(own, 'plain', path), text)
        }
        const within = (folder: string) => ({ download: { origins: [join(own, folder)] } })
        const expected = await importOpenApi(join(own, 'plain/api/v1/openapi.yaml'), {
          documentUrl,
          ...within('plain'),
        })
        await mkdir(join(own, 'kept'))
        const kept = await downloadDocument(documentUrl, join(own, 'kept'))
        const ways = [
          await importOpenApi(`${documentUrl}?key=secret`),
          await importOpenApi(join(own, 'kept', kept.files[0] ?? ''), {
            documentUrl: kept.url,
            ...within(join('kept', kept.folder)),
          }),
        ]
        for (const { endpoints, types, findings, baseUrl } of ways) {
          expect(findings).toEqual([])
          expect(baseUrl).toBe(`${backend.url}/api/v2`)
          expect({ endpoints, types }).toEqual({ endpoints: expected.endpoints, types: expected.types })
        }
        expect(kept.missing).toEqual([])
      } finally {
        await backend.stop()
      }
    }),
    { numRuns: 60, interruptAfterTimeLimit: 20_000 },
  )
}, 60_000)

const document = (ref: string): string =>
  JSON.stringify({
    openapi: '3.0.3',
    info: { title: 't', version: '1' },
    servers: [{ url: '/v1' }],
    paths: {
      '/x': {
        get: {
          operationId: 'x',
          responses: {
            200: { description: 'ok', content: { 'application/json': { schema: { $ref: ref } } } },
          },
        },
      },
    },
  })
const SCHEMA = JSON.stringify({ type: 'object', properties: { id: { type: 'string' } } })

describe('references to other servers', () => {
  const read = async (download?: DownloadOptions) => {
    const other = await serve({
      '/pet.json': SCHEMA,
      '/on.json': { status: 302, headers: { location: '/pet.json' } },
    })
    const ref = `${other.url}/on.json`
    const home = await serve({ '/openapi.json': document(ref) })
    const file = join(await emptyFolder(), 'openapi.json')
    await writeFile(file, document(ref))
    const settings = download && { ...download, origins: [other.url] }
    const both = [await importOpenApi(`${home.url}/openapi.json`, { download: settings })]
    both.push(await importOpenApi(file, { download: settings, documentUrl: `${home.url}/openapi.json` }))
    return { both, other, ref, home }
  }

  it('are followed where the settings name them, without the headers of the document', async () => {
    const { both, other, home } = await read({ headers: { 'X-Key': 'secret' } })
    for (const { types, findings } of both) {
      expect(findings).toEqual([])
      expect(types).toMatchObject({ On: { fields: { id: { type: 'String' } } } })
    }
    expect(home.requests.map(({ headers }) => headers['x-key'])).toEqual(['secret'])
    expect(other.requests.map(({ headers }) => headers['x-key'])).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })

  it('are else findings that say how to have them', async () => {
    const { both, other, ref } = await read()
    for (const { findings } of both)
      expect(findings).toMatchObject([
        {
          place: '#/paths/~1x/get',
          message: expect.stringContaining(
            `$ref "${ref}" cannot be resolved (files from ${other.url} are not allowed; add this origin to download.origins`,
          ),
        },
      ])
    expect(other.requests).toEqual([])
  })
})

it('a document of a server reads no file of the machine', async () => {
  const file = join(await emptyFolder(), 'secret.json')
  await writeFile(file, SCHEMA)
  const { url } = await serve({ '/openapi.json': document(`file://${file}`) })
  const { findings, files } = await importOpenApi(`${url}/openapi.json`)
  expect(findings).toMatchObject([{ message: expect.stringContaining('must not refer to file: addresses') }])
  expect(files).toEqual([])
})

describe('a document that is a file', () => {
  const types = async (ref: string, download?: DownloadOptions) => {
    const home = await emptyFolder()
    await mkdir(join(home, 'api/own'), { recursive: true })
    await mkdir(join(home, 'api2'))
    for (const place of ['secret.json', 'api/own/pet.json', 'api2/pet.json'])
      await writeFile(join(home, place), SCHEMA)
    await writeFile(join(home, 'api/openapi.json'), document(ref.replace('HOME', home)))
    await symlink(join(home, 'secret.json'), join(home, 'api/own/link.json'))
    await symlink(home, join(home, 'api/up'))
    await symlink(join(home, 'api/own'), join(home, 'api/inside'))
    const origins = download?.origins?.map((place) => join(home, place))
    const { findings, types, files } = await importOpenApi(join(home, 'api/openapi.json'), {
      baseUrl: 'http://api.example',
      download: { origins },
    })
    return { found: Object.keys(types), findings, files: files.map((file) => relative(home, file)) }
  }

  it.each([
    ['own/pet.json', 'Pet'],
    ['inside/pet.json', 'Pet'],
    ['../api/own/pet.json', 'Pet'],
    ['file://HOME/api/own/pet.json', 'Pet'],
  ])('reads %s', async (ref, type) => {
    expect(await types(ref)).toMatchObject({ found: [type], findings: [] })
  })

  it.each([
    ['../secret.json', /is outside the folder of the document/],
    ['../api2/pet.json', /is outside the folder of the document/],
    ['%2e%2e/secret.json', /is outside the folder of the document/],
    ['file://HOME/secret.json', /is outside the folder of the document/],
    ['HOME/secret.json', /is outside the folder of the document/],
    ['own/../../secret.json', /is outside the folder of the document/],
    ['file:///', /is outside the folder of the document/],
    ['file://other.example/x.json', /host/],
    ['own/link.json', /target of its symbolic link, is outside the folder/],
    ['up/secret.json', /target of its symbolic link, is outside the folder/],
  ])('does not read %s, nor watch it', async (ref, reason) => {
    const { found, findings, files } = await types(ref)
    expect(found).toEqual([])
    expect(findings).toMatchObject([{ message: expect.stringMatching(reason) }])
    expect(files.filter((file) => !file.startsWith('api/'))).toEqual([])
  })

  it('reads files of folders that the settings name', async () => {
    expect(await types('../api2/pet.json', { origins: ['api2'] })).toMatchObject({
      found: ['Pet'],
      findings: [],
    })
    expect(await types('../secret.json', { origins: ['api2'] })).toMatchObject({ found: [] })
    expect(await types('up/secret.json', { origins: [''] })).toMatchObject({ found: [] })
  })
})

describe('a document beyond its bounds is refused whole', () => {
  it.each<[string, DownloadOptions, Record<string, string | RestAnswer>, RegExp]>([
    ['bytes', { maxBytes: 250 }, { '/o.json': document('a.json'), '/a.json': SCHEMA }, /limit of 250 bytes/],
    ['files', { maxFiles: 1 }, { '/o.json': document('a.json'), '/a.json': SCHEMA }, /limit of 1 files/],
    ['time', { timeoutMs: 50 }, { '/o.json': { delayMs: 2000, body: '' } }, /longer than 50 ms/],
    [
      'bytes, packed',
      { maxBytes: 10_000 },
      {
        '/o.json': { headers: { 'content-encoding': 'gzip' }, body: gzipSync(Buffer.alloc(1_000_000, ' ')) },
      },
      /limit of 10000 bytes/,
    ],
    ['redirects', {}, { '/o.json': { status: 302, headers: { location: '/o.json' } } }, /more than 5 times/],
  ])('%s', async (_, download, files, message) => {
    const { url } = await serve(files)
    await expect(importOpenApi(`${url}/o.json`, { download })).rejects.toThrow(message)
  })
})

it('the headers of a document go to its own server alone, wherever it leads', async () => {
  const other = await serve({ '/o.json': document('#/components') })
  const home = await serve({ '/o.json': { status: 307, headers: { location: `${other.url}/o.json` } } })
  const { baseUrl } = await importOpenApi(`${home.url}/o.json`, {
    download: { headers: { Authorization: 'secret' } },
  })
  expect(home.requests[0]?.headers.authorization).toBe('secret')
  expect(other.requests[0]?.headers.authorization).toBeUndefined()
  expect(baseUrl).toBe(`${other.url}/v1`)
})

describe('vinyasa check with openapi.url', () => {
  async function check(config: string, environment = {}) {
    const directory = await emptyFolder()
    await writeFile(join(directory, 'gateway.config.yaml'), config)
    const out: string[] = []
    const err: string[] = []
    const status = await run(['check'], {
      directory,
      environment,
      shutdown: new AbortController().signal,
      reload: new EventTarget(),
      print: (text) => out.push(text),
      printError: (text) => err.push(text),
    })
    return { status, out, err }
  }

  it('downloads it, with a key of the environment', async () => {
    const backend = cleanup.use(
      await startRestBackend(({ headers, url }) =>
        url.pathname === '/docs/o.json' && headers['x-key'] !== 'secret'
          ? { status: 401 }
          : { body: document('#/components') },
      ),
    )
    const config = `rest: { shop: { openapi: { url: '${backend.url}/docs/o.json', download: { headers: { X-Key: '\${KEY}' } } } } }`
    expect(await check(config, { KEY: 'secret' })).toMatchObject({ status: 0, err: [] })
    const { status, err } = await check(config, { KEY: 'wrong' })
    expect({ status, err }).toEqual({
      status: 1,
      err: [expect.stringMatching(/rest\.shop: .*o\.json: the server responded with status 401/)],
    })
  })

  it('says what to do where its server is not there', async () => {
    const { status, err } = await check(
      `rest: { shop: { openapi: 'http://127.0.0.1:${await freePort()}/o.json' } }`,
    )
    expect(status).toBe(1)
    expect(err).toEqual([
      expect.stringMatching(
        /^vinyasa: .*gateway\.config\.yaml:1:17: rest\.shop: .*o\.json: .*ECONNREFUSED.*run "vinyasa init <url>" and set openapi\.file/,
      ),
    ])
  })

  it.each([['{ tags: [a] }'], ['{ file: a.json, url: http://a.example/b.json }']])(
    'refuses %s',
    async (openapi) => {
      const { err } = await check(`rest: { shop: { openapi: ${openapi} } }`)
      expect(err).toEqual([expect.stringContaining('expected either file or url')])
    },
  )
})
