import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  freePort,
  type RedisServer,
  spawnProcess,
  type SpawnedProcess,
  startRedis,
  waitUntil,
} from '@vinyasa/test-kit'
import { repository } from '../../e2e/support/demo.ts'
import { HEAP_PROBE } from '../support/heap.ts'
import { gatewayConfig } from './config.ts'

/** A backend process that keeps what it holds over its own death. */
export interface Backend {
  readonly process: SpawnedProcess
  readonly stateFile: string
  start(): Promise<void>
}

/** A place behind the load balancer: one gateway process after another. */
export interface Slot {
  /** Of the process that serves now; each has a number of its own. */
  readonly gateway: number
  readonly url: string
  readonly process: SpawnedProcess
  /** Writes a config, good or broken; `--watch` or SIGHUP makes the process read it. */
  writeConfig(text: string): void
}

export interface Cluster {
  readonly users: Backend
  readonly shop: Backend
  readonly redis: RedisServer
  /** The first is there from beginning to end and reloads on SIGHUP; the second is rolled, and reloads on --watch. */
  readonly slots: readonly [Slot, Slot]
  /** A config that works; those of odd and even numbers differ. */
  config(number: number): string
  /** Starts a new process in the second slot, sends clients there, then SIGTERM to the old one. */
  roll(): Promise<void>
  /** Every gateway process so far. */
  readonly gateways: readonly SpawnedProcess[]
  /** Processes that ended although nobody had told them to, or otherwise than told. */
  readonly badExits: readonly string[]
  [Symbol.asyncDispose](): Promise<void>
}

export async function startCluster(): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'vinyasa-chaos-'))
  const redis = await startRedis()
  const users = await startBackend('demo-users', join(folder, 'users.jsonl'))
  const shop = await startBackend('demo-shop', join(folder, 'shop.jsonl'))
  const gateways: SpawnedProcess[] = []
  const badExits: string[] = []
  let isEnding = false

  const config = (number: number): string =>
    JSON.stringify(
      gatewayConfig({
        usersAddress: `127.0.0.1:${users.port}`,
        shopUrl: `http://127.0.0.1:${shop.port}`,
        redisUrl: redis.url,
        defaultTtlMs: number % 2 === 0 ? 4_000 : 30_000,
      }),
    )

  async function startGateway(args: readonly string[]): Promise<Slot> {
    const gateway = gateways.length
    const file = join(folder, `gateway-${gateway}.json`)
    const writeConfig = (text: string): void => writeFileSync(file, text)
    writeConfig(config(gateway))
    const process_ = await spawnProcess({
      command: process.execPath,
      args: [
        ...HEAP_PROBE,
        repository('apps/gateway/dist/main.js'),
        'start',
        '--config',
        file,
        '--port',
        '0',
        ...args,
      ],
      ready: /(http:\/\/[^\s"]+)\/graphql/,
    })
    gateways.push(process_)
    return { gateway, process: process_, url: process_.ready?.[1] ?? '', writeConfig }
  }

  /** A gateway may end when it was told to, and with 0. */
  function watch({ gateway, process: process_ }: Slot): { expectExit(): void } {
    let isExpected = false
    const judge = async (): Promise<void> => {
      const { code, signal } = await process_.exited
      const last = process_.lines.slice(-12).join('\n    ')
      if (!isEnding && (!isExpected || code !== 0))
        badExits.push(`gateway ${gateway} ended: code ${code}, signal ${signal}\n    ${last}`)
    }
    void judge()
    return { expectExit: () => void (isExpected = true) }
  }

  const first = await startGateway([])
  watch(first)
  let second = await startGateway(['--watch'])
  let watched = watch(second)
  for (const { url } of [first, second])
    await waitUntil(async () => (await fetch(`${url}/health/ready`)).ok, {
      awaited: 'readiness',
      timeoutMs: 20_000,
    })

  return {
    users,
    shop,
    redis,
    config,
    gateways,
    badExits,
    get slots(): readonly [Slot, Slot] {
      return [first, second]
    },
    async roll() {
      const next = await startGateway(['--watch'])
      const old = second
      const oldWatched = watched
      watched = watch(next)
      second = next
      oldWatched.expectExit()
      old.process.signal('SIGTERM')
      await waitUntil(() => !old.process.isRunning(), {
        timeoutMs: 40_000,
        awaited: `the end of gateway ${old.gateway} after SIGTERM`,
      })
    },
    async [Symbol.asyncDispose]() {
      isEnding = true
      for (const { process: backend } of [users, shop]) backend.signal('SIGCONT')
      await Promise.all(
        [...gateways, users.process, shop.process].map((process_) => process_[Symbol.asyncDispose]()),
      )
      await redis[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function startBackend(app: string, stateFile: string): Promise<Backend & { readonly port: number }> {
  const port = await freePort()
  writeFileSync(stateFile, '')
  const start = (): Promise<SpawnedProcess> =>
    spawnProcess({
      command: process.execPath,
      args: [repository(`apps/${app}/dist/main.js`)],
      env: { PORT: String(port), STATE_FILE: stateFile },
      ready: /ready: /,
    })
  let current = await start()
  return {
    port,
    stateFile,
    get process() {
      return current
    },
    async start() {
      current = await start()
    },
  }
}
