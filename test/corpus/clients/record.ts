// Records the requests of clients into `<client>.json`, next to this file.
// `pnpm --filter @vinyasa/test exec node --import jiti/register corpus/clients/record.ts`. villus needs
// `npm install --prefix test/corpus`. Clients whose program is not installed keep their file.
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ApolloClient, type ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client'
import { Defer20220824Handler } from '@apollo/client/incremental'
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries'
import { Client as UrqlClient, fetchExchange, gql as urqlGql } from '@urql/core'
import { cacheExchange } from '@urql/exchange-graphcache'
import { persistedExchange } from '@urql/exchange-persisted'
import {
  ApolloClient as ApolloClient3,
  gql as gql3,
  HttpLink as HttpLink3,
  InMemoryCache as InMemoryCache3,
} from 'apollo-client-3/core'
import { createPersistedQueryLink } from 'apollo-client-3/link/persisted-queries'
import { GraphQLClient } from 'graphql-request'
import { Environment, Network, type RequestParameters, RecordSource, Store } from 'relay-runtime'
import {
  CAPTURED_ETAG,
  type CapturedClient,
  type CapturedRequest,
  CLIENTS_FOLDER,
  type RequestKind,
} from '../../clients/captured-requests.ts'

const run = promisify(execFile)
const require = createRequire(import.meta.url)

const QUERY = 'query Hello { user(id: "1") { id name } }'
const WITH_VARIABLES = 'query UserById($id: ID!) { user(id: $id) { id name } }'
const MUTATION = 'mutation Rename($id: ID!, $name: String!) { rename(id: $id, name: $name) { id name } }'
const DEFERRED = 'query Deferred { user(id: "1") { id ... @defer { name } } }'
const SUBSCRIPTION = 'subscription Ticks { ticks }'
const ID = { id: '1' }
const RENAMED = { id: '1', name: 'Ada' }

const USER = { __typename: 'User', id: '1', name: 'Ada' }
const FOUND = JSON.stringify({ data: { user: USER, rename: USER, ticks: 1 } })
const NOT_FOUND = JSON.stringify({
  errors: [{ message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }],
})

/** Headers that depend on the connection. */
const OF_CONNECTION = new Set(['host', 'connection', 'content-length'])
/** A page of this name has another origin than the recording server, although the same server serves it. */
const PAGE_HOST = 'shop.example'

type Sent = Omit<CapturedRequest, 'kind'>

interface Recorder {
  readonly url: string
  /** Calls `send`, and returns the requests that arrive meanwhile. */
  record(send: () => unknown): Promise<readonly Sent[]>
  /** Serves the page, and resolves when it requests `/done`. */
  openPage(html: string, open: (url: string) => Promise<unknown>): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

function sentOf({ method, url = '', rawHeaders }: IncomingMessage, body: string, port: number): Sent {
  const headers: [string, string][] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2)
    // The page is served without TLS, by a headless browser.
    const usual = value
      .replace(`http://${PAGE_HOST}:${port}`, `https://${PAGE_HOST}`)
      .replace('"HeadlessChrome"', '"Google Chrome"')
      .replace('HeadlessChrome', 'Chrome')
    if (!OF_CONNECTION.has(name.toLowerCase())) headers.push([name, usual])
  }
  return { method: method as Sent['method'], target: url, headers, body }
}

async function startRecorder(): Promise<Recorder> {
  let arrived: Sent[] = []
  let page = ''
  let onDone = (): void => {}
  const server = createServer(async (request, response) => {
    if (request.url === '/page') return void response.setHeader('content-type', 'text/html').end(page)
    if (request.url === '/done') {
      response.end()
      return onDone()
    }
    if (!request.url?.startsWith('/graphql')) return void response.writeHead(404).end()
    let body = ''
    for await (const part of request.setEncoding('utf8')) body += part
    arrived.push(sentOf(request, body, port))
    response.setHeader('access-control-allow-origin', '*')
    if (request.method === 'OPTIONS') {
      response.setHeader('access-control-allow-headers', 'content-type, x-graphql-csrf')
      return void response.writeHead(204).end()
    }
    const asked = `${decodeURIComponent(request.url)} ${body}`
    const isHashOnly = asked.includes('sha256Hash') && !asked.includes('user(')
    if (!isHashOnly) response.setHeader('etag', CAPTURED_ETAG).setHeader('cache-control', 'no-cache')
    response.setHeader('content-type', 'application/json').end(isHashOnly ? NOT_FOUND : FOUND)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/graphql`,
    async record(send) {
      arrived = []
      await send()
      return arrived
    },
    async openPage(html, open) {
      page = html
      const done = new Promise<void>((resolve) => (onDone = resolve))
      await Promise.race([done, open(`http://${PAGE_HOST}:${port}/page`)])
    },
    async [Symbol.asyncDispose]() {
      server.close().closeAllConnections()
    },
  }
}

/** Sends requests in turn; each of them can lead to several requests, whose kinds are in the order in which they arrive. */
type Steps = readonly (readonly [kinds: readonly RequestKind[], send: (url: string) => unknown])[]

async function recordSteps(steps: Steps): Promise<readonly CapturedRequest[]> {
  await using recorder = await startRecorder()
  const requests: CapturedRequest[] = []
  for (const [kinds, send] of steps) {
    const sent = await recorder.record(() => send(recorder.url))
    if (sent.length !== kinds.length)
      throw new Error(`Expected requests for "${kinds.join('", "')}", got ${JSON.stringify(sent)}`)
    requests.push(...kinds.map((kind, at) => ({ kind, ...(sent[at] as Sent) })))
  }
  return requests
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const PERSISTED = ['persisted query', 'persisted query with its document'] as const

/** Resolves with the first result of an observable. */
function firstOf(observable: {
  subscribe(observer: { next(value: unknown): void; error(error: unknown): void }): unknown
}): Promise<unknown> {
  return new Promise((next, error) => observable.subscribe({ next, error }))
}

function apollo4(link: ApolloLink): ApolloClient {
  return new ApolloClient({
    cache: new InMemoryCache(),
    incrementalHandler: new Defer20220824Handler(),
    link,
  })
}

const withApollo4 = (uri: string): ApolloClient => apollo4(new HttpLink({ uri }))
const APOLLO_4: Steps = [
  [['query'], (uri) => withApollo4(uri).query({ query: gql(QUERY) })],
  [
    ['query by GET'],
    (uri) => apollo4(new HttpLink({ uri, useGETForQueries: true })).query({ query: gql(QUERY) }),
  ],
  [['query with variables'], (uri) => withApollo4(uri).query({ query: gql(WITH_VARIABLES), variables: ID })],
  [['mutation'], (uri) => withApollo4(uri).mutate({ mutation: gql(MUTATION), variables: RENAMED })],
  [
    PERSISTED,
    (uri) =>
      apollo4(new PersistedQueryLink({ sha256 }).concat(new HttpLink({ uri }))).query({ query: gql(QUERY) }),
  ],
  [['deferred query'], (uri) => withApollo4(uri).query({ query: gql(DEFERRED) })],
  [['subscription'], (uri) => firstOf(withApollo4(uri).subscribe({ query: gql(SUBSCRIPTION) }))],
]

const apollo3 = (link: HttpLink3 | ReturnType<HttpLink3['concat']>) =>
  new ApolloClient3({ cache: new InMemoryCache3(), link })
const withApollo3 = (uri: string) => apollo3(new HttpLink3({ uri }))
const APOLLO_3: Steps = [
  [['query'], (uri) => withApollo3(uri).query({ query: gql3(QUERY) })],
  [
    ['query by GET'],
    (uri) => apollo3(new HttpLink3({ uri, useGETForQueries: true })).query({ query: gql3(QUERY) }),
  ],
  [['query with variables'], (uri) => withApollo3(uri).query({ query: gql3(WITH_VARIABLES), variables: ID })],
  [['mutation'], (uri) => withApollo3(uri).mutate({ mutation: gql3(MUTATION), variables: RENAMED })],
  [
    PERSISTED,
    (uri) =>
      apollo3(createPersistedQueryLink({ sha256 }).concat(new HttpLink3({ uri }))).query({
        query: gql3(QUERY),
      }),
  ],
  [['deferred query'], (uri) => withApollo3(uri).query({ query: gql3(DEFERRED) })],
  [['subscription'], (uri) => firstOf(withApollo3(uri).subscribe({ query: gql3(SUBSCRIPTION) }))],
]

type UrqlOptions = Partial<ConstructorParameters<typeof UrqlClient>[0]>
const urql = (url: string, options: UrqlOptions = {}): UrqlClient =>
  new UrqlClient({ url, preferGetMethod: false, exchanges: [cacheExchange({}), fetchExchange], ...options })
const persisted = persistedExchange({
  preferGetForPersistedQueries: false,
  generateHash: async (text) => sha256(text),
})
const URQL: Steps = [
  [['query'], (url) => urql(url).query(urqlGql(QUERY), {}).toPromise()],
  [
    ['query by GET'],
    (url) =>
      urql(url, {
        // The default of urql.
        preferGetMethod: 'within-url-limit',
        fetchOptions: { headers: { 'x-graphql-csrf': '1' } },
      })
        .query(urqlGql(QUERY), {})
        .toPromise(),
  ],
  [['query with variables'], (url) => urql(url).query(urqlGql(WITH_VARIABLES), ID).toPromise()],
  [['mutation'], (url) => urql(url).mutation(urqlGql(MUTATION), RENAMED).toPromise()],
  [
    PERSISTED,
    (url) =>
      urql(url, { exchanges: [persisted, fetchExchange] })
        .query(urqlGql(QUERY), {})
        .toPromise(),
  ],
  [['deferred query'], (url) => urql(url).query(urqlGql(DEFERRED), {}).toPromise()],
  [
    ['subscription'],
    (url) =>
      new Promise((resolve) => {
        const client = urql(url, { fetchSubscriptions: true })
        client.subscription(urqlGql(SUBSCRIPTION), {}).subscribe(resolve)
      }),
  ],
]

/** Relay's users write the function that sends requests. This is the function of Relay's documentation. */
function relay(url: string, text: string, variables: object, headers: Readonly<Record<string, string>> = {}) {
  const send = async ({ text: query }: RequestParameters, given: object): Promise<any> => {
    const init = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ query, variables: given }),
    }
    return (await fetch(url, init)).json()
  }
  const environment = new Environment({
    network: Network.create(send),
    store: new Store(new RecordSource()),
  })
  const [operationKind = '', name = ''] = text.split(/[^\w]/)
  const params = { cacheID: text, id: null, metadata: {}, name, operationKind, text } as RequestParameters
  return firstOf(environment.getNetwork().execute(params, variables, {}))
}
const RELAY: Steps = [
  [['query'], (url) => relay(url, QUERY, {})],
  [['query with variables'], (url) => relay(url, WITH_VARIABLES, ID)],
  [['mutation'], (url) => relay(url, MUTATION, RENAMED)],
  // As the documentation of meros reads the parts.
  [['deferred query'], (url) => relay(url, DEFERRED, {}, { Accept: 'multipart/mixed, application/json' })],
]

const GRAPHQL_REQUEST: Steps = [
  [['query'], (url) => new GraphQLClient(url).request(QUERY)],
  [
    ['query by GET'],
    (url) => new GraphQLClient(url, { method: 'GET', headers: { 'x-graphql-csrf': '1' } }).request(QUERY),
  ],
  [['query with variables'], (url) => new GraphQLClient(url).request(WITH_VARIABLES, ID)],
  [['mutation'], (url) => new GraphQLClient(url).request(MUTATION, RENAMED)],
]

const VILLUS = new URL('../node_modules/villus/dist/villus.js', import.meta.url)
const villus = (url: string) =>
  require(fileURLToPath(VILLUS)).createClient({ url, cachePolicy: 'network-only' })
const VILLUS_STEPS: Steps = [
  [['query'], (url) => villus(url).executeQuery({ query: QUERY })],
  [['query with variables'], (url) => villus(url).executeQuery({ query: WITH_VARIABLES, variables: ID })],
  [['mutation'], (url) => villus(url).executeMutation({ query: MUTATION, variables: RENAMED })],
]

const curl = (...args: readonly string[]) => run('curl', ['--silent', '--show-error', ...args])
const JSON_TYPE = 'content-type: application/json'
const byGet = (url: string, ...args: readonly string[]) =>
  curl('--get', url, '--header', 'x-graphql-csrf: 1', '--data-urlencode', `query=${QUERY}`, ...args)
const post = (url: string, body: object) =>
  curl(url, '--header', JSON_TYPE, '--data-binary', JSON.stringify(body))
const CURL: Steps = [
  [['query'], (url) => post(url, { query: QUERY })],
  [['query by GET'], (url) => byGet(url)],
  [['conditional query'], (url) => byGet(url, '--header', `if-none-match: ${CAPTURED_ETAG}`)],
  [['query with variables'], (url) => post(url, { query: WITH_VARIABLES, variables: ID })],
  [['mutation'], (url) => post(url, { query: MUTATION, variables: RENAMED })],
]

const CHROMIUM = '/usr/bin/chromium'

/** Opens a page that sends requests with `fetch`, each after the response to the previous one. */
async function recordInPage(
  sends: readonly (readonly [kinds: readonly RequestKind[], init: object, search?: string])[],
): Promise<readonly CapturedRequest[]> {
  const profile = await mkdtemp(join(tmpdir(), 'vinyasa-chromium-'))
  let browser: ReturnType<typeof spawn> | undefined
  await using recorder = await startRecorder()
  const calls = sends.map(
    ([, init, search = '']) =>
      `await (await fetch(${JSON.stringify(recorder.url + search)}, ${JSON.stringify(init)})).text()`,
  )
  const html = `<script type="module">${calls.join('\n')}\nawait fetch('/done')</script>`
  try {
    const sent = await recorder.record(() =>
      recorder.openPage(html, async (url) => {
        const rules = `--host-resolver-rules=MAP ${PAGE_HOST} 127.0.0.1`
        const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', `--user-data-dir=${profile}`, rules]
        browser = spawn(CHROMIUM, [...flags, url], { stdio: 'ignore', detached: true })
        await once(browser, 'exit')
        throw new Error('Chromium ended before the page was done')
      }),
    )
    const kinds = sends.flatMap(([kind]) => kind)
    if (sent.length !== kinds.length)
      throw new Error(`Expected ${kinds.join(', ')}, got ${JSON.stringify(sent)}`)
    return kinds.map((kind, at) => ({ kind, ...(sent[at] as Sent) }))
  } finally {
    if (browser?.pid) process.kill(-browser.pid, 'SIGKILL')
    await rm(profile, { recursive: true, force: true, maxRetries: 5 })
  }
}

function posted(body: object, headers: Readonly<Record<string, string>> = {}): object {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
}

const GET_IN_PAGE = [{ headers: { 'x-graphql-csrf': '1' } }, `?query=${encodeURIComponent(QUERY)}`] as const

const versionOf = (manifest: string): string => JSON.parse(readFileSync(manifest, 'utf8')).version
/** Returns the version of a package that `test` depends on. */
function installed(name: string): string {
  return versionOf(fileURLToPath(new URL(`../../node_modules/${name}/package.json`, import.meta.url)))
}

async function versionOfProgram(program: string): Promise<string> {
  const { stdout } = await run(program, ['--version'])
  return /\d+(?:\.\d+)+/.exec(stdout)?.[0] ?? stdout
}

type Recording = () => Promise<CapturedClient>

const recorded =
  (client: string, version: string, steps: Steps): Recording =>
  async () => ({ client, version, source: 'recorded', requests: await recordSteps(steps) })

/** Clients that are dependencies of `test`, by file. */
export const libraryRecordings: Readonly<Record<string, Recording>> = {
  'apollo-client-3': recorded('Apollo Client 3', installed('apollo-client-3'), APOLLO_3),
  'apollo-client-4': recorded('Apollo Client 4', installed('@apollo/client'), APOLLO_4),
  'graphql-request': recorded('graphql-request', installed('graphql-request'), GRAPHQL_REQUEST),
  relay: recorded('Relay', installed('relay-runtime'), RELAY),
  urql: recorded('urql', installed('@urql/core'), URQL),
}

const programRecordings: Readonly<Record<string, Recording>> = {
  async villus() {
    const version = versionOf(fileURLToPath(new URL('../package.json', VILLUS)))
    return recorded('villus', version, VILLUS_STEPS)()
  },
  curl: async () => recorded('curl', await versionOfProgram('curl'), CURL)(),
  async chromium() {
    const requests = await recordInPage([
      [['preflight', 'query'], posted({ query: QUERY })],
      [['preflight', 'query by GET'], ...GET_IN_PAGE],
      [['conditional query'], ...GET_IN_PAGE],
      [['query with variables'], posted({ query: WITH_VARIABLES, variables: ID })],
      [['mutation'], posted({ query: MUTATION, variables: RENAMED })],
    ])
    const [first, ...rest] = requests
    return {
      client: 'fetch in Chromium, from another origin',
      version: await versionOfProgram(CHROMIUM),
      source: 'recorded',
      // One preflight request is enough.
      requests: [first, ...rest.filter(({ kind }) => kind !== 'preflight')] as CapturedRequest[],
    }
  },
  async 'apollo-client-4-in-chromium'() {
    const library = await recordSteps(APOLLO_4)
    const sends = library.flatMap(({ kind, method, headers, body }) => {
      if (method !== 'POST') return []
      const own = headers.filter(([name]) => name === 'accept' || name === 'content-type')
      return [[[kind], posted(JSON.parse(body), Object.fromEntries(own))] as const]
    })
    const [[kinds, init] = [[], {}], ...others] = sends
    const requests = await recordInPage([[['preflight', ...kinds], init], ...others])
    return {
      client: 'Apollo Client 4 in Chromium, from another origin',
      version: `${installed('@apollo/client')}, Chromium ${await versionOfProgram(CHROMIUM)}`,
      source: 'recorded',
      requests: requests.filter(({ kind }) => kind !== 'preflight'),
    }
  },
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const found: Readonly<Record<string, boolean>> = {
    villus: existsSync(VILLUS),
    chromium: existsSync(CHROMIUM),
    'apollo-client-4-in-chromium': existsSync(CHROMIUM),
  }
  for (const [name, record] of Object.entries({ ...libraryRecordings, ...programRecordings })) {
    if (found[name] === false) {
      process.stdout.write(`${name}: not installed, so its file stays as it is\n`)
      continue
    }
    const client = await record()
    await writeFile(new URL(`${name}.json`, CLIENTS_FOLDER), `${JSON.stringify(client, undefined, 2)}\n`)
    process.stdout.write(`${name}: ${client.requests.length} requests\n`)
  }
  process.exit(0)
}
