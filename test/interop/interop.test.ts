import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FileRegistry } from '@bufbuild/protobuf'
import { createGrpcJsTransport } from '../../packages/grpc-source/src/runtime/grpc-js-transport.ts'
import { createHttp2Transport, type ChannelOptions } from '@vinyasa/grpc-transport'
import { createDisposables } from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { startCountingRelay, type CountingRelay } from './counting-relay.ts'
import { interopCases, type CaseWorld } from './interop-cases.ts'
import { createInteropClient, readMessages } from './interop-client.ts'
import { interopServers, type InteropServer } from './interop-servers.ts'
import { initialise, openGateway, vinyasa } from './live-gateway.ts'

const opened = createDisposables(afterAll)
let folder: string
let messages: FileRegistry

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vinyasa-interop-'))
  opened.use(() => rmSync(folder, { recursive: true, force: true }))
  messages = readMessages(folder)
})

describe.each(interopServers)('gRPC interop cases, $name', ({ name, has, start }) => {
  let server: InteropServer
  let relay: CountingRelay

  beforeAll(async () => {
    const own = join(folder, name)
    mkdirSync(own)
    server = opened.use(await start(own))
    relay = opened.use(await startCountingRelay(server.port))
  })

  describe.each([
    ['http2', createHttp2Transport],
    ['grpc-js', createGrpcJsTransport],
  ] as const)('transport %s', (_, createTransport) => {
    function client(address: string, channel: ChannelOptions = {}, isTls = false) {
      const transport = createTransport({ address, tls: isTls ? server.tls : undefined, channel })
      return createInteropClient(opened.use(transport), messages)
    }
    function world(): CaseWorld {
      const address = `127.0.0.1:${server.port}`
      return {
        client: client(address),
        compressing: client(address, { compression: 'gzip' }),
        relayed: client(`127.0.0.1:${relay.port}`),
        bytesReceived: relay.bytesReceived,
      }
    }
    const cases = interopCases.filter(({ needs }) => needs === undefined || has.includes(needs))

    it.each(cases)('$name', async ({ run }) => {
      await expect(run(world())).resolves.toBeUndefined()
    })

    it.each(cases.filter(({ needs }) => needs !== 'compressed replies'))(
      '$name over TLS',
      async ({ run }) => {
        const address = `127.0.0.1:${server.tlsPort}`
        const secure = client(address, {}, true)
        const compressing = client(address, { compression: 'gzip' }, true)
        await expect(run({ ...world(), client: secure, compressing })).resolves.toBeUndefined()
      },
    )
  })

  it.runIf(has.includes('reflection'))('vinyasa init at https://, check, read and stream', async () => {
    const own = mkdtempSync(join(folder, 'init-'))
    // The certificate is its own authority.
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    onTestFinished(() => void vi.unstubAllEnvs())
    await initialise(own, `https://127.0.0.1:${server.tlsPort}`)
    const checked = await vinyasa(own, 'check')
    expect([checked.code, checked.out]).toEqual([0, expect.stringMatching(/^source .*: ok$/m)])
    const gateway = await openGateway(own)
    onTestFinished(() => gateway.close())
    const called = 'mutation { unaryCall(responseSize: 3, payload: { body: "AAE=" }) { payload { body } } }'
    expect(await gateway.ask(called)).toEqual({ data: { unaryCall: { payload: { body: 'AAAA' } } } })
    const sizes = 'responseParameters: [{ size: 1 }, { size: 2 }]'
    const stream = await gateway.listen(`subscription { streamingOutputCall(${sizes}) { payload { body } } }`)
    const said = await stream.rest()
    expect([...said.matchAll(/"body":"([^"]*)"/g)].map(([, body]) => body)).toEqual(['AA==', 'AAA='])
  })

  it('runs at least fifteen cases', () => {
    expect(interopCases.filter(({ needs }) => needs === undefined).length).toBeGreaterThanOrEqual(15)
  })
})
