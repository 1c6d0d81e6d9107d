import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { status } from '@grpc/grpc-js'
import {
  createDisposables,
  type GrpcBackend,
  grpcError,
  requestMultipart,
  startGrpcBackend,
  startTcpServer,
  waitUntil,
} from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { repository, type RunningDemo, startDemo } from '../e2e/support/demo.ts'
import { ms, recordFigure } from './support/figures.ts'
import { type RunningGateway, startGateway } from './support/gateway.ts'

/** How long a killed backend stays away: 20 s in the full run. */
const AWAY_MS = Number(process.env['FAULTS_AWAY_MS'] ?? 5_000)

const TRANSPORTS = ['http2', 'grpc-js'] as const

const disposables = createDisposables(afterAll)

/** The demo's own config with another transport. */
function demoConfig(transport: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'vinyasa-demo-'))
  disposables.use(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'gateway.config.ts')
  const app = repository('apps/gateway')
  writeFileSync(
    file,
    `import { resolve } from 'node:path'
import config from '${app}/gateway.config.ts'
const { users } = config.grpc
const absolute = (path: string) => resolve('${app}', path)
export default { ...config, grpc: { users: {
  ...users,
  transport: '${transport}',
  protoFiles: users.protoFiles.map(absolute),
  includePaths: users.includePaths.map(absolute),
} } }
`,
  )
  return file
}

describe.each(TRANSPORTS)('a gRPC backend that goes away, over %s', (transport) => {
  let demo: RunningDemo
  let round = 0
  // A name of its own for each request, so that no answer comes from a cache.
  const ask = () => demo.query(`query Q${round++} { users(limit: 1) { totalCount } }`)
  const isServed = async () => (await ask()).errors.length === 0

  beforeAll(async () => {
    demo = disposables.use(await startDemo({ config: demoConfig(transport) }))
  })

  async function timed<T>(action: () => Promise<T>): Promise<[T, number]> {
    const at = performance.now()
    return [await action(), performance.now() - at]
  }

  it(`killed, and restarted later: served again within 1 s`, async () => {
    expect(await isServed()).toBe(true)
    await demo.users.kill()
    const endOfAbsence = performance.now() + AWAY_MS
    while (performance.now() < endOfAbsence) {
      const { errors } = await ask()
      expect(errors).toMatchObject([{ extensions: { code: 'SERVICE_UNAVAILABLE' } }])
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    await demo.users.restart()
    const [, took] = await timed(() => waitUntil(isServed))
    recordFigure({
      area: `gRPC, ${transport}`,
      fault: `backend killed and restarted after ${AWAY_MS / 1_000} s`,
      asked: '≤ 1 s to the first success',
      seen: ms(took),
    })
    expect(took).toBeLessThan(2_000)
  })

  it('frozen (SIGSTOP): SERVICE_UNAVAILABLE within 1 s; thawed: served within 5 s', async () => {
    expect(await isServed()).toBe(true)
    demo.users.process.stop()
    onTestFinished(() => demo.users.process.cont())
    const [answer, took] = await timed(ask)
    demo.users.process.cont()
    const [, healed] = await timed(() => waitUntil(isServed, { timeoutMs: 10_000 }))
    recordFigure({
      area: `gRPC, ${transport}`,
      fault: 'backend frozen (SIGSTOP), then thawed',
      asked: 'UNAVAILABLE ≤ 1 s; recovers ≤ 5 s',
      seen: `${answer.errors[0]?.extensions.code} after ${ms(took)}; recovers after ${ms(healed)}`,
    })
    expect(answer.errors).toMatchObject([{ extensions: { code: 'SERVICE_UNAVAILABLE' } }])
    expect(took).toBeLessThan(2_500)
    expect(healed).toBeLessThan(5_000)
  })

  it('accepts TCP and says nothing: SERVICE_UNAVAILABLE within 1 s; a real one: served within 5 s', async () => {
    expect(await isServed()).toBe(true)
    await demo.users.kill()
    const port = Number(demo.users.address.split(':').at(-1))
    const silent = createDisposables(onTestFinished)
    const server = silent.use(await startTcpServer({ port }))
    // Until the gateway tries to connect again it answers from what it knows.
    await waitUntil(async () => (await ask()) && server.connections > 0)
    const [answer, took] = await timed(ask)
    const [, second] = await timed(ask)
    await silent.dispose()
    await demo.users.restart()
    const [, healed] = await timed(() => waitUntil(isServed, { timeoutMs: 10_000 }))
    recordFigure({
      area: `gRPC, ${transport}`,
      fault: 'accepts TCP and says nothing, then a real backend',
      asked: 'UNAVAILABLE ≤ 1 s; recovers ≤ 5 s',
      seen: `${answer.errors[0]?.extensions.code} after ${ms(took)}, again ${ms(second)}; recovers after ${ms(healed)}`,
    })
    expect(answer.errors).toMatchObject([{ extensions: { code: 'SERVICE_UNAVAILABLE' } }])
    expect(took).toBeLessThan(2_500)
    expect(healed).toBeLessThan(5_000)
  })
})

describe.each(TRANSPORTS)('a gRPC backend that answers wrongly, over %s', (transport) => {
  const proto = `
    syntax = "proto3";
    package test;
    import "graphql.proto";
    service Things {
      rpc Get(Id) returns (Thing) { option (graphql.schema) = { type: QUERY, name: "thing" }; }
      rpc Set(Id) returns (Thing) { option (graphql.schema) = { type: MUTATION, name: "setThing" }; }
    }
    message Id { string id = 1; }
    message Thing { string id = 1; string text = 2; }`
  // The backend itself has no use for the options.
  const plain = proto.replace('import "graphql.proto";', '').replaceAll(/ \{ option .*$/gm, ';')

  let backend: GrpcBackend
  let gateway: RunningGateway

  beforeAll(async () => {
    backend = disposables.use(
      await startGrpcBackend({
        protos: plain,
        handlers: { 'test.Things/Get': ({ id }) => ({ id }), 'test.Things/Set': ({ id }) => ({ id }) },
      }),
    )
    gateway = disposables.use(
      await startGateway({
        files: { 'things.proto': proto },
        config: { grpc: { things: { endpoint: backend.address, protoFiles: ['things.proto'], transport } } },
      }),
    )
  })

  const unavailableTimes = (times: number) => {
    let calls = 0
    return ({ id }: { id: string }) => {
      if (calls++ < times) throw grpcError(status.UNAVAILABLE, 'not now')
      return { id }
    }
  }

  it('UNAVAILABLE twice: a query succeeds, a mutation is sent once', async () => {
    backend.handle('test.Things/Get', unavailableTimes(2))
    backend.handle('test.Things/Set', unavailableTimes(2))
    const before = [backend.callsOf('test.Things/Get').length, backend.callsOf('test.Things/Set').length]
    const query = await gateway.query('{ thing(id: "1") { id } }')
    const mutation = await gateway.query('mutation { setThing(id: "1") { id } }')
    const calls = ['Get', 'Set'].map(
      (name, index) => backend.callsOf(`test.Things/${name}`).length - before[index]!,
    )
    recordFigure({
      area: `gRPC, ${transport}`,
      fault: 'UNAVAILABLE twice',
      asked: 'a query succeeds, a mutation is sent once',
      seen: `query: ${query.errors.length} errors after ${calls[0]} calls; mutation: ${mutation.errors[0]?.extensions.code} after ${calls[1]} call`,
    })
    expect(query).toMatchObject({ data: { thing: { id: '1' } }, errors: [] })
    expect(mutation.errors).toMatchObject([{ extensions: { code: 'SERVICE_UNAVAILABLE' } }])
    expect(calls).toEqual([3, 1])
  })

  it('a 5 MB reply is a mapped error, and the next call is served', async () => {
    backend.handle('test.Things/Get', () => ({ id: '1', text: 'x'.repeat(5_000_000) }))
    const { errors } = await gateway.query('{ thing(id: "2") { id text } }')
    recordFigure({
      area: `gRPC, ${transport}`,
      fault: 'a 5 MB reply',
      asked: 'a mapped error',
      seen: errors[0]?.extensions.code ?? 'answered',
    })
    expect(errors).toMatchObject([{ extensions: { code: 'RESPONSE_TOO_LARGE' } }])
    backend.handle('test.Things/Get', ({ id }) => ({ id }))
    expect((await gateway.query('{ thing(id: "3") { id } }')).errors).toEqual([])
  })

  it('hop-by-hop headers of a client never become metadata, and cause no retries', async () => {
    backend.handle('test.Things/Get', ({ id }) => ({ id }))
    const before = backend.calls.length
    const headers = {
      'keep-alive': 'timeout=5',
      te: 'trailers',
      'grpc-timeout': '1n',
      authorization: 'Bearer x',
      'x-request-id': 'r1',
    }
    const response = await requestMultipart(`${gateway.url}/graphql`, {
      headers: { ...headers, accept: 'application/json' },
      body: { query: '{ thing(id: "4") { id } }' },
    })
    expect(await response.text()).toBe('{"data":{"thing":{"id":"4"}}}')
    const calls = backend.calls.slice(before)
    const names = Object.keys(calls[0]?.metadata ?? {})
    recordFigure({
      area: `gRPC, ${transport}`,
      fault: 'hop-by-hop and grpc-* headers from a client',
      asked: 'never forwarded',
      seen: `${calls.length} call with ${names.join(', ')}`,
    })
    expect(calls).toHaveLength(1)
    expect(calls[0]!.metadata).toMatchObject({ authorization: ['Bearer x'], 'x-request-id': ['r1'] })
    expect(
      names.filter((name) => /^(keep-alive|te|connection|upgrade|host|grpc-timeout)$/.test(name)),
    ).toEqual([])
  })
})
