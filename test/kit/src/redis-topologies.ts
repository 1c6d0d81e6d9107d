import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCertificate } from './certificate.ts'
import { freePort } from './free-port.ts'
import { spawnProcess, type SpawnedProcess } from './spawned.ts'
import { waitUntil } from './wait.ts'

export interface SentinelRedis {
  /** `host:port` */
  readonly sentinels: readonly string[]
  readonly name: string
  /** Ends the master, and waits until the sentinel has made the other server one. */
  failOver(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export interface RedisCluster {
  /** `host:port` of all nodes. */
  readonly nodes: readonly string[]
  /** Ends the master of a key, and waits until its replica has taken its place. */
  failOver(key: string): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export interface TlsRedis {
  readonly url: string
  /** PEM of the authority that nobody else trusts. */
  readonly ca: string
  [Symbol.asyncDispose](): Promise<void>
}

const READY = /ready to accept connections/i
const QUIET = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']

function cli(port: number, ...args: readonly string[]): string {
  return execFileSync('redis-cli', ['-p', String(port), ...args], { encoding: 'utf8' }).trim()
}

interface Servers {
  readonly folder: string
  start(port: number, ...args: readonly string[]): Promise<SpawnedProcess>
  dispose(): Promise<void>
}

function createServers(): Servers {
  const folder = mkdtempSync(join(tmpdir(), 'vinyasa-redis-'))
  const running: SpawnedProcess[] = []
  return {
    folder,
    async start(port, ...args) {
      const server = await spawnProcess({
        command: 'redis-server',
        args: ['--port', String(port), '--dir', folder, '--dbfilename', `${port}.rdb`, ...QUIET, ...args],
        ready: READY,
      })
      running.push(server)
      return server
    },
    async dispose() {
      await Promise.all(running.map((server) => server.kill('SIGKILL')))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A master, a replica, and one sentinel that watches them. */
export async function startSentinelRedis(): Promise<SentinelRedis> {
  const servers = createServers()
  const [first, second, sentinel] = [await freePort(), await freePort(), await freePort()]
  const name = 'shop'
  const byPort = new Map([
    [first, await servers.start(first)],
    [
      second,
      await servers.start(
        second,
        '--replicaof',
        '127.0.0.1',
        String(first),
        '--repl-diskless-sync-delay',
        '0',
      ),
    ],
  ])
  await waitUntil(() => cli(second, 'INFO', 'replication').includes('master_link_status:up'), {
    timeoutMs: 20_000,
  })
  const config = join(servers.folder, 'sentinel.conf')
  writeFileSync(
    config,
    [
      `port ${sentinel}`,
      'bind 127.0.0.1',
      `dir ${servers.folder}`,
      `sentinel monitor ${name} 127.0.0.1 ${first} 1`,
      `sentinel down-after-milliseconds ${name} 500`,
      `sentinel failover-timeout ${name} 2000`,
    ].join('\n'),
  )
  const watcher = await spawnProcess({
    command: 'redis-server',
    args: [config, '--sentinel'],
    ready: /\+monitor master/,
  })
  const masterPort = (): number =>
    Number(cli(sentinel, 'SENTINEL', 'get-master-addr-by-name', name).split('\n')[1])
  await waitUntil(() => cli(sentinel, 'SENTINEL', 'replicas', name).includes(String(second)), {
    timeoutMs: 20_000,
  })
  return {
    sentinels: [`127.0.0.1:${sentinel}`],
    name,
    async failOver() {
      const old = masterPort()
      await byPort.get(old)?.kill('SIGKILL')
      await waitUntil(() => masterPort() !== old && cli(masterPort(), 'ROLE').startsWith('master'), {
        timeoutMs: 30_000,
      })
    },
    async [Symbol.asyncDispose]() {
      await watcher.kill('SIGKILL')
      await servers.dispose()
    },
  }
}

/** Three masters with so many replicas each. Default 1. */
export async function startRedisCluster({
  replicas = 1,
}: { readonly replicas?: number } = {}): Promise<RedisCluster> {
  const servers = createServers()
  const byPort = new Map<number, SpawnedProcess>()
  for (let index = 0; index < 3 * (1 + replicas); index++) {
    const port = await freePort()
    const own = ['--cluster-enabled', 'yes', '--cluster-config-file', `nodes-${port}.conf`]
    // The port of the cluster's own talk is 10,000 above the other one, which may be too high.
    const bus = ['--cluster-port', String(await freePort()), '--cluster-node-timeout', '1000']
    byPort.set(port, await servers.start(port, ...own, ...bus, '--repl-diskless-sync-delay', '0'))
  }
  const ports = [...byPort.keys()]
  const nodes = ports.map((port) => `127.0.0.1:${port}`)
  const spread = ['--cluster-replicas', String(replicas), '--cluster-yes']
  execFileSync('redis-cli', ['--cluster', 'create', ...nodes, ...spread])
  const isWhole = (port: number): boolean =>
    cli(port, 'CLUSTER', 'INFO').includes('cluster_state:ok') &&
    (cli(port, 'ROLE').startsWith('master') ||
      cli(port, 'INFO', 'replication').includes('master_link_status:up'))
  await waitUntil(() => ports.every(isWhole), { timeoutMs: 60_000 })

  function masterOf(key: string, port: number): number {
    const slot = Number(cli(port, 'CLUSTER', 'KEYSLOT', key))
    for (const line of cli(port, 'CLUSTER', 'NODES').split('\n')) {
      const [, address = '', flags = '', , , , , ...ranges] = line.split(' ')
      if (!flags.includes('master') || flags.includes('fail')) continue
      const isOwner = ranges.some((range) => {
        const [from = Number.NaN, to = from] = range.split('-').map(Number)
        return slot >= from && slot <= to
      })
      if (isOwner) return Number(/:(\d+)@/.exec(address)?.[1])
    }
    return Number.NaN
  }

  return {
    nodes,
    async failOver(key) {
      const old = masterOf(key, ports[0] as number)
      await byPort.get(old)?.kill('SIGKILL')
      const witness = ports.find((port) => port !== old) as number
      await waitUntil(
        () => {
          const master = masterOf(key, witness)
          return (
            !Number.isNaN(master) &&
            master !== old &&
            cli(witness, 'CLUSTER', 'INFO').includes('cluster_state:ok')
          )
        },
        { timeoutMs: 30_000 },
      )
    },
    [Symbol.asyncDispose]: () => servers.dispose(),
  }
}

/** A server that speaks TLS alone, with a certificate of an authority of its own. */
export async function startTlsRedis(): Promise<TlsRedis> {
  const servers = createServers()
  const { cert, certFile, keyFile } = makeCertificate(servers.folder)
  const port = await freePort()
  const tls = {
    '--tls-port': String(port),
    '--tls-cert-file': certFile,
    '--tls-key-file': keyFile,
    '--tls-ca-cert-file': certFile,
    '--tls-auth-clients': 'no',
  }
  await servers.start(0, ...Object.entries(tls).flat())
  return {
    url: `rediss://127.0.0.1:${port}`,
    ca: cert,
    [Symbol.asyncDispose]: () => servers.dispose(),
  }
}
