import { gzipSync } from 'node:zlib'
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import {
  createDisposables,
  type Disposables,
  freePort,
  type RecordedRequest,
  type RestAnswer,
  type RestHandler,
  startRestBackend,
} from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { run } from '../src/cli.ts'
import { post } from './support/gateway.ts'

// Documents that try to write files, to run code, to send environment variables and to read local files. Each is served
// to `init`, and then `check`, `print-schema` and `start` use what `init` wrote.

/** The value of every environment variable; it must never reach a server, the terminal or the config. */
const SECRET = 'canary-of-the-environment'
/** A property of every local schema; it must never reach the GraphQL schema or the terminal. */
const LOCAL = 'canaryOfAFile'
const NAMES = ['DOC', 'GITHUB', 'NPM', 'AWS', 'OPENAPI', 'API', 'PETS'].flatMap((source) =>
  ['TOKEN', 'API_KEY', 'USER', 'PASSWORD', 'CLIENT_ID', 'CLIENT_SECRET', 'SECRET_ACCESS_KEY', 'X'].map(
    (what) => `${source}_${what}`,
  ),
)
const VARIABLES = Object.fromEntries(NAMES.map((name) => [name, SECRET]))

interface Place {
  /** The origin of the server. */
  readonly url: string
  /** The folder above the one that the commands are run in. */
  readonly home: string
}

interface Attack {
  /** Path of the document. Default `/api/doc.json`. */
  readonly at?: string
  readonly document: (place: Place) => object | RestAnswer
  /** Further files of the server. */
  readonly files?: (place: Place) => Readonly<Record<string, string | RestAnswer>>
  /** Puts files into the folder that the commands are run in. */
  readonly prepare?: (directory: string, place: Place) => Promise<unknown>
}

/** Code that is YAML too: a text. */
const CODE = `await (await import('node:fs/promises')).writeFile(new URL('run',import.meta.url),'run');export default {}`
const SCHEMA = JSON.stringify({ Pet: { type: 'object', properties: { id: { type: 'string' } } } })
const local = (ref: string) => ({ $ref: ref })

/** A document with one operation and these parts. */
function documentOf(
  parts: object,
  schema: object = { type: 'object', properties: { id: { type: 'string' } } },
) {
  const content = { 'application/json': { schema } }
  return {
    openapi: '3.0.3',
    info: { title: 'github', version: '1' },
    paths: { '/x': { get: { operationId: 'x', responses: { 200: { description: 'ok', content } } } } },
    ...parts,
  }
}

const referring = (ref: string | ((place: Place) => string)): Attack => ({
  document: (place) =>
    documentOf({ servers: [{ url: place.url }] }, local(typeof ref === 'string' ? ref : ref(place))),
  files: () => ({}),
})
/** Refers to a file of the server, of whatever path, which holds code and a schema. */
const writing = (ref: string): Attack => ({
  ...referring(`${ref}#/Pet`),
  files: () => ({ '*': CODE }),
})
const onServer = (server: (place: Place) => object): Attack => ({
  document: (place) => documentOf({ servers: [server(place)] }),
})
const secured = (at: string, schemes: (place: Place) => object): Attack => ({
  at,
  document: (place) =>
    documentOf({
      servers: [{ url: place.url }],
      security: [Object.fromEntries(Object.keys(schemes(place)).map((name) => [name, []]))],
      components: { securitySchemes: schemes(place) },
    }),
})
const bearer = () => ({ a: { type: 'http', scheme: 'bearer' } })
const redirect =
  (to: (place: Place) => string): Attack['document'] =>
  (place) => ({
    status: 302,
    headers: { location: to(place) },
  })
const text = (value: object): RestAnswer => ({ body: JSON.stringify(value) })

const ATTACKS: Readonly<Record<string, Attack>> = {
  // Files and code.
  'a config of code': writing('gateway.config.mjs'),
  'a config of TypeScript': writing('gateway.config.ts'),
  'a config of JavaScript': writing('gateway.config.js'),
  'a config in capitals': writing('GATEWAY.CONFIG.MJS'),
  'a config of YAML': writing('gateway.config.yaml'),
  'a config of YAML in other letters': writing('Gateway.Config.YAML'),
  'a config in the folder above': writing('../gateway.config.mjs'),
  'a config at the root of the server': writing('/gateway.config.mjs'),
  'a config behind an encoded slash': writing('x%2fgateway.config.mjs'),
  'dots that are encoded': writing('%2e%2e/%2e%2e/x.yaml'),
  'an encoded way up': writing('..%2f..%2fx.yaml'),
  'a way up by backslashes': writing('..%5c..%5cx.yaml'),
  'a NUL in a name': writing('x.yaml%00.mjs'),
  'a NUL before the extension': writing('x.mjs%00.yaml'),
  'a hidden file': writing('.npmrc'),
  'a hidden folder': writing('.git/hooks.yaml'),
  'a package': writing('node_modules/yaml/index.js'),
  'a shell script': writing('x.sh'),
  'a file without an extension': writing('Makefile'),
  'an extension behind another': writing('x.json.mjs'),
  'a drive': writing('c:x.yaml'),
  'a stream of NTFS': writing('x.mjs%3a.yaml'),
  'a name that ends with a dot': writing('x.mjs.'),
  'a name that is too long': writing(`${'x'.repeat(300)}.yaml`),
  'folders that are too deep': writing(`${'a/'.repeat(3000)}x.yaml`),
  'names that differ in case alone': {
    document: ({ url }) =>
      documentOf({
        servers: [{ url }],
        components: {
          schemas: { a: local('a.yaml#/Pet'), b: local('A.YAML#/Pet'), c: local('a.yaml?c#/Pet') },
        },
      }),
    files: () => ({ '*': SCHEMA }),
  },
  'a file where a folder has to be': {
    document: ({ url }) =>
      documentOf({
        servers: [{ url }],
        components: { schemas: { a: local('a.yaml#/Pet'), b: local('a.yaml/b.yaml#/Pet') } },
      }),
    files: () => ({ '*': SCHEMA }),
  },
  'more files than there may be': {
    document: ({ url }) =>
      documentOf({
        servers: [{ url }],
        components: {
          schemas: Object.fromEntries(
            Array.from({ length: 600 }, (_, index) => [`a${index}`, local(`${index}.yaml`)]),
          ),
        },
      }),
    files: () => ({ '*': SCHEMA }),
  },
  'more bytes than there may be, packed': {
    document: () => ({
      headers: { 'content-encoding': 'gzip' },
      body: gzipSync(Buffer.alloc(70 * 1024 * 1024, ' ')),
    }),
  },
  'a redirect to a config': {
    document: redirect(() => '/api/gateway.config.yaml'),
    files: ({ url }) => ({
      '/api/gateway.config.yaml': text(documentOf({ servers: [{ url }] }, local('x.yaml#/Pet'))),
      '/api/x.yaml': SCHEMA,
    }),
  },
  'a document that is called like a config': {
    at: '/api/gateway.config.mjs',
    document: ({ url }) => documentOf({ servers: [{ url }] }),
  },
  'a folder that is a link': {
    ...writing('x.yaml'),
    prepare: (directory, { home }) => symlink(join(home, 'elsewhere'), join(directory, 'openapi')),
  },
  'a folder that is there': {
    ...writing('x.yaml'),
    prepare: async (directory, { home }) => {
      await mkdir(join(directory, 'openapi/doc'), { recursive: true })
      await symlink(join(home, 'elsewhere'), join(directory, 'openapi/doc/api'))
    },
  },
  'lines of YAML in a description': {
    document: ({ url }) =>
      documentOf({
        servers: [{ url }],
        paths: {
          '/x\r\nplugins: [x]\rrest: { a: { baseUrl: "${DOC_TOKEN}" } }\r': {
            post: { requestBody: { $ref: 'x\r#' }, operationId: 'y\ra: b' },
          },
          '/y': { get: { operationId: 'x', responses: {} } },
        },
      }),
  },
  'an address of 200,000 slashes': onServer(({ url }) => ({ url: `${url}${'/'.repeat(200_000)}x` })),

  // Variables.
  'a variable in the default of a server': onServer(({ url }) => ({
    url: `${url}/{x}`,
    variables: { x: { default: '${AWS_SECRET_ACCESS_KEY}' } },
  })),
  'a variable in the address of a server': onServer(({ url }) => ({
    url: `${url}/\${AWS_SECRET_ACCESS_KEY}`,
  })),
  'a variable with a default': onServer(({ url }) => ({ url: `${url}/\${AWS_SECRET_ACCESS_KEY:-x}` })),
  'a variable behind what escapes': onServer(({ url }) => ({
    url: `${url}/$\${AWS_SECRET_ACCESS_KEY}/$$\${DOC_TOKEN}`,
  })),
  'a variable in the default of another': onServer(({ url }) => ({
    url: `${url}/\${NOT_SET:-\${DOC_TOKEN}}`,
  })),
  'a variable as the host': onServer(() => ({ url: 'http://${AWS_SECRET_ACCESS_KEY}' })),
  'a variable of a server, chosen by its name': {
    at: '/aws.json',
    ...onServer(({ url }) => ({
      url: `${url}/{secretAccessKey}`,
      variables: { secretAccessKey: { default: 'x' } },
    })),
  },
  'a variable of an operation’s server': {
    at: '/github.json',
    document: ({ url }) => {
      const servers = [{ url: `${url}/{token}`, variables: { token: { default: 'x' } } }]
      const { paths } = documentOf({})
      return documentOf({ servers: [{ url }], paths: { '/x': { ...paths['/x'], servers } } })
    },
  },
  'a token, by the name of the document': secured('/github.json', bearer),
  'a token, by the name that a redirect gives': {
    document: redirect(() => '/github.json'),
    files: (place) => ({ '/github.json': text(secured('', bearer).document(place)) }),
  },
  'a password': secured('/npm.json', () => ({ a: { type: 'http', scheme: 'basic' } })),
  'a key in the query': secured('/npm.json', () => ({ a: { type: 'apiKey', in: 'query', name: 'a' } })),
  'a key in a cookie': secured('/npm.json', () => ({ a: { type: 'apiKey', in: 'cookie', name: 'a' } })),
  'keys, chosen by the names of schemes': secured('/aws.json', () => ({
    secretAccessKey: { type: 'apiKey', in: 'header', name: 'a' },
    x: { type: 'apiKey', in: 'header', name: 'b' },
  })),
  'the secret of a client': secured('/github.json', ({ url }) => ({
    a: {
      type: 'oauth2',
      flows: { clientCredentials: { tokenUrl: `${url}/token`, scopes: { '${DOC_X}': '' } } },
    },
  })),
  'a token of OpenID Connect': secured('/pets.json', ({ url }) => ({
    a: { type: 'openIdConnect', openIdConnectUrl: url },
  })),
  'a variable in the address of the document': {
    document: redirect(() => '/${DOC_TOKEN}/$%7BDOC_TOKEN%7D/doc.json'),
    files: ({ url }) => ({
      '/${DOC_TOKEN}/${DOC_TOKEN}/doc.json': text(documentOf({ servers: [{ url: '../v1' }], info: { url } })),
    }),
  },
  'a variable as the default of a parameter': {
    document: ({ url }) => {
      const parameters = [
        { name: '${DOC_X}', in: 'header', schema: { type: 'string', default: '${DOC_TOKEN}' } },
      ]
      return documentOf({
        servers: [{ url }],
        paths: { '/x': { get: { operationId: 'x', parameters, responses: {} } } },
      })
    },
  },

  // Local files.
  'a file by its URL': referring(({ home }) => `file://${home}/secret.yaml#/Secret`),
  'a file of localhost': referring(({ home }) => `file://localhost${home}/secret.yaml#/Secret`),
  'a file by its path': referring(({ home }) => `${home}/secret.yaml#/Secret`),
  'a file of the folder': referring('../../secret.yaml#/Secret'),
  'a file beside the document': referring('secret.yaml#/Secret'),
  'a file one up': referring('../secret.yaml#/Secret'),
  'a file three up': referring('../../../secret.yaml#/Secret'),
  'a file four up': referring('../../../../secret.yaml#/Secret'),
  'a file of the server’s origin': referring(({ url }) => `${url}/../../secret.yaml#/Secret`),
  'a file by a path without a scheme': referring(
    ({ url }) => `${url.replace('http:', '')}/../secret.yaml#/Secret`,
  ),
  'a file of another file': {
    ...referring('a/b/c.yaml#/Pet'),
    files: ({ home }) => ({
      '/api/a/b/c.yaml': `Pet: { type: object, properties: { a: { $ref: 'file://${home}/secret.yaml#/Secret' }, b: { $ref: '../../../../../secret.yaml#/Secret' }, c: { $ref: '../../../../secret.yaml#/Secret' } } }`,
    }),
  },
  'a file behind encoded dots': referring('%2e%2e/%2e%2e/secret.yaml#/Secret'),
  'a file as a path': {
    document: ({ url, home }) => {
      const ref = `file://${home}/secret.yaml#`
      return documentOf({
        servers: [{ url }],
        paths: { '/x': local(`${ref}/Path`), '/y': local('../../../secret.yaml#/Path') },
      })
    },
  },
  'a file as a section': {
    document: ({ url, home }) =>
      documentOf(
        { servers: [{ url }], components: { schemas: local(`file://${home}/secret.yaml`) } },
        local('#/components/schemas/Secret'),
      ),
  },
  'the whole machine': referring('file:///'),
  'a file beyond a folder above': {
    ...referring('../shared/x.yaml#/Pet'),
    files: () => ({
      '/shared/x.yaml':
        'Pet: { type: object, properties: { a: { $ref: "../../../../secret.yaml#/Secret" }, b: { $ref: "../../../secret.yaml#/Secret" } } }',
    }),
  },
  'a reference to another server': referring(
    ({ url }) => `${url.replace('127.0.0.1', 'localhost')}/leak.yaml#/Secret`,
  ),

  // The terminal.
  'characters that control a terminal': {
    document: ({ url }) => {
      const name = '\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e\u2066\u0000'
      const requestBody = { content: { 'application/json': {} } }
      const odd = { operationId: name, summary: name, requestBody, responses: {} }
      return documentOf({
        servers: [{ url: `${url}/${name}` }],
        paths: { [`/${name}`]: { get: odd, post: { ...odd, tags: [name] } } },
      })
    },
  },
}

const WORK = 'work'

async function world(attack: Attack, cleanup: Disposables) {
  const home = await mkdtemp(join(tmpdir(), 'vinyasa-hostile-'))
  cleanup.use(() => rm(home, { recursive: true, force: true }))
  const directory = join(home, WORK)
  await mkdir(directory)
  await mkdir(join(home, 'elsewhere'))
  const secret = `Secret: { type: object, description: ${LOCAL}, properties: { ${LOCAL}: { type: string } } }
Path: { get: { operationId: ${LOCAL}, responses: { 200: { description: ok } } } }`
  for (const folder of [home, directory]) await writeFile(join(folder, 'secret.yaml'), secret)
  const { at = '/api/doc.json', document, files = () => ({}) } = attack
  const handler: RestHandler = ({ url }) => {
    const path = decodeURIComponent(url.pathname)
    if (path === at) {
      const given = document(place)
      return 'openapi' in given ? { json: given } : given
    }
    const served: Readonly<Record<string, string | RestAnswer>> = files(place)
    const found = served[path] ?? (/^\/(x|y|v1|token)?$/.test(path) ? text({ id: '1' }) : served['*'])
    return found === undefined ? { status: 404 } : typeof found === 'string' ? { body: found } : found
  }
  const backend = cleanup.use(await startRestBackend(handler))
  const place: Place = { url: backend.url, home }
  await attack.prepare?.(directory, place)
  const out: string[] = []
  const shutdown = new AbortController()
  const before = await filesIn(home)
  const context = {
    directory,
    environment: VARIABLES,
    shutdown: shutdown.signal,
    reload: new EventTarget(),
    print: (line: string) => void out.push(line),
    printError: (line: string) => void out.push(line),
  }
  return {
    directory,
    backend,
    out,
    command: (...args: string[]) => run(args, context),
    /** Starts the gateway, sends it requests, reloads it and stops it. Returns whether it served. */
    async start() {
      const port = await freePort()
      const state = { isOver: false }
      const ended = run(['start', '--port', String(port)], context).finally(() => (state.isOver = true))
      const base = `http://127.0.0.1:${port}`
      while (!state.isOver) {
        const answer = await fetch(`${base}/health/live`).catch(() => undefined)
        if (answer?.status === 200) break
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      const isServing = !state.isOver
      for (const query of isServing ? ['{ x { __typename } }', '{ x }'] : [])
        await post(`${base}/graphql`, { query })
      context.reload.dispatchEvent(new Event('reload'))
      shutdown.abort()
      await ended
      return isServing
    },
    /** Files that are there and were not before, below the folder of the commands. */
    added: async () => (await filesIn(home)).filter((file) => !before.includes(file)),
  }
}

function wordsOf({ rawUrl, headers, body }: RecordedRequest): string {
  const basic = Buffer.from(headers.authorization?.replace(/^Basic /, '') ?? '', 'base64').toString()
  return `${decodeURIComponent(rawUrl)} ${JSON.stringify(headers)} ${basic} ${body.toString()}`
}

/** The config, and documents in one folder; none of them can be taken for a config. */
function isAllowed(file: string): boolean {
  if (file === `${WORK}/gateway.config.yaml`) return true
  const isDocument = /^work\/openapi\/\w+\/(?:[^/.][^/]*\/)*[^/.][^/]*\.(?:json|ya?ml)$/i.test(file)
  return isDocument && !/\/gateway\.config\.[^/]*$/i.test(file)
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const all = await readdir(folder, { recursive: true, withFileTypes: true })
  return all
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
}

for (const [name, value] of Object.entries(VARIABLES)) vi.stubEnv(name, value)
afterAll(() => {
  vi.unstubAllEnvs()
})

/** Attacks whose document was served in the end. */
let served = 0

/** Lets the attack meet all commands, and returns what it achieved. */
async function outcomeOf(attack: Attack, cleanup: Disposables) {
  const { directory, backend, out, command, start, added } = await world(attack, cleanup)
  const status = await command('init', `${backend.url}${attack.at ?? '/api/doc.json'}`)
  const written = await added()
  for (const name of ['check', 'print-schema']) await command(name)
  if (await start()) served++
  const config = await readFile(join(directory, 'gateway.config.yaml'), 'utf8').catch(() => '')
  const shown = out.join('\n') + config
  const listed = out.filter((line) => line.startsWith('wrote '))
  const kinds = await Promise.all(written.map((file) => lstat(join(directory, '..', file))))
  return {
    outside: written.filter((file) => !isAllowed(file)),
    links: kinds.filter((kind) => !kind.isFile()).length,
    unlisted: written.filter((file) => !listed.some((line) => line.endsWith(`/${file}`))),
    leftByFailure: status === 0 ? [] : written,
    addedLater: (await added()).filter((file) => !written.includes(file)),
    sent: backend.requests
      .map(wordsOf)
      .filter((words) => words.includes(SECRET) || words.startsWith('/leak')),
    variables: shown.includes(SECRET),
    localFiles: shown.includes(LOCAL),
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    controls: shown.match(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g) ?? [],
  }
}

describe('a hostile document', () => {
  const waiting = Object.entries(ATTACKS)
  const outcomes = new Map<string, unknown>()

  // A gateway takes a second to stop, so many are stopped at a time.
  beforeAll(async () => {
    const runNext = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const [name, attack] = next
        const cleanup = createDisposables()
        outcomes.set(name, await outcomeOf(attack, cleanup).catch((error: unknown) => error))
        await cleanup.dispose()
      }
    }
    await Promise.all(Array.from({ length: 12 }, runNext))
  }, 240_000)

  it('is one of forty at least that a gateway serves', () => expect(served).toBeGreaterThanOrEqual(40))

  it.each(Object.keys(ATTACKS))(
    '%s: writes only into its folder, runs nothing, and gets no variable and no local file',
    (name) =>
      expect(outcomes.get(name)).toEqual({
        outside: [],
        links: 0,
        unlisted: [],
        leftByFailure: [],
        addedLater: [],
        sent: [],
        variables: false,
        localFiles: false,
        controls: [],
      }),
  )
})
