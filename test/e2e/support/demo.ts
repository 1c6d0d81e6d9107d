import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawnProcess, type SpawnedProcess, waitUntil } from '@vinyasa/test-kit'

/** With `BUILT_ROOT`, the folder of another checkout, tests run what is built there: an older one shows a test red. */
const root = process.env['BUILT_ROOT'] ?? fileURLToPath(new URL('../../..', import.meta.url))

/** A file of the repository. */
export const repository = (path: string): string => join(root, path)

export interface GraphQLAnswer {
  readonly status: number
  readonly headers: Headers
  readonly data: any
  readonly errors: readonly {
    readonly message: string
    readonly path?: readonly (string | number)[]
    readonly extensions?: any
  }[]
}

/** A backend process that can be ended and come back on the same port. */
export interface DemoBackend {
  /** host:port */
  readonly address: string
  readonly process: SpawnedProcess
  /** kill -9 */
  kill(): Promise<void>
  /** Resolves when it says that it is ready. */
  restart(): Promise<void>
}

export interface DemoOptions {
  /** Further flags of `vinyasa start`. */
  readonly gatewayArgs?: readonly string[]
  readonly gatewayEnv?: Readonly<Record<string, string>>
  /** Another gateway in front of this demo's backends, which it leaves running. */
  readonly beside?: RunningDemo
  /** Default: the repository's own. */
  readonly config?: string
}

export interface RunningDemo {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  readonly gateway: SpawnedProcess
  readonly users: DemoBackend
  readonly shop: DemoBackend
  query(
    document: string,
    variables?: object,
    headers?: Readonly<Record<string, string>>,
  ): Promise<GraphQLAnswer>
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts the demo's two backends and the gateway, built, each a process on a free port. */
export async function startDemo(options: DemoOptions = {}): Promise<RunningDemo> {
  const { gatewayArgs = [], gatewayEnv = {}, beside } = options
  const { config = repository('apps/gateway/gateway.config.ts') } = options
  const { users, shop } = beside ?? (await startBackends())
  const endBackends = async (): Promise<void> => {
    if (beside) return
    await Promise.all([users, shop].map((backend) => backend.process[Symbol.asyncDispose]()))
  }
  try {
    const gateway = await spawnProcess({
      command: process.execPath,
      args: [built('apps/gateway/dist/main.js'), 'start', '--config', config, '--port', '0', ...gatewayArgs],
      env: { USERS_ADDRESS: users.address, SHOP_URL: `http://${shop.address}`, ...gatewayEnv },
      ready: /(http:\/\/[^\s"]+)\/graphql/,
    })
    const url = gateway.ready?.[1] ?? ''
    await waitUntil(async () => (await fetch(`${url}/health/ready`)).ok, {
      awaited: 'readiness of the gateway',
    })
    return {
      url,
      gateway,
      users,
      shop,
      query: (document, variables, headers) => postGraphQL(`${url}/graphql`, document, variables, headers),
      async [Symbol.asyncDispose]() {
        await gateway[Symbol.asyncDispose]()
        await endBackends()
      },
    }
  } catch (error) {
    await endBackends()
    throw error
  }
}

export async function postGraphQL(
  url: string,
  query: string,
  variables?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<GraphQLAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables }),
  })
  const { data, errors = [] } = (await response.json()) as any
  return { status: response.status, headers: response.headers, data, errors }
}

async function startBackends(): Promise<Pick<RunningDemo, 'users' | 'shop'>> {
  const [users, shop] = await Promise.all([
    startBackend('apps/demo-users', /ready: grpc:\/\/(\S+)/),
    startBackend('apps/demo-shop', /ready: http:\/\/(\S+)/),
  ])
  return { users, shop }
}

async function startBackend(app: string, ready: RegExp): Promise<DemoBackend> {
  const start = (port: string): Promise<SpawnedProcess> =>
    spawnProcess({
      command: process.execPath,
      args: [built(`${app}/dist/main.js`)],
      env: { PORT: port },
      ready,
    })
  let process_ = await start('0')
  const address = process_.ready?.[1] ?? ''
  return {
    address,
    get process() {
      return process_
    },
    async kill() {
      await process_.kill('SIGKILL')
    },
    async restart() {
      if (process_.isRunning()) await process_.kill('SIGKILL')
      process_ = await start(address.slice(address.lastIndexOf(':') + 1))
    },
  }
}

function built(path: string): string {
  const file = repository(path)
  if (!existsSync(file)) throw new Error(`${path} is missing: run pnpm run build first`)
  return file
}
