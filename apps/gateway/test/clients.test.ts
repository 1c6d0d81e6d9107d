import type { LiveQueryPlugin } from '@vinyasa/live-query'
import { connectRawWebSocket } from '@vinyasa/test-kit'
import { expect, it, vi, type Mock } from 'vitest'
import { startGateway } from './support/gateway.ts'

it.each([
  [false, /127\.0\.0\.1$/],
  [['loopback'], /^1\.1\.1\.1$/],
  [['10.0.0.0/8'], /127\.0\.0\.1$/],
])(
  'with trustProxy %j a socket is in the share of the client that trusted proxies name',
  async (trustProxy, expected) => {
    let open: Mock | undefined
    const watch = {
      onPluginInit({ plugins }: { readonly plugins: readonly (object | false)[] }) {
        const live = plugins.find((plugin) => plugin && 'engine' in plugin) as LiveQueryPlugin
        open = vi.spyOn(live.engine.turns, 'open')
      },
    }
    const { endpoint } = await startGateway(
      { typeDefs: 'type Query { hello: String }', plugins: [watch], server: { trustProxy } },
      { trustProxy },
    )
    const headers = { 'x-forwarded-for': '1.1.1.1' }
    await using socket = await connectRawWebSocket(endpoint.replace('http', 'ws'), { headers })
    socket.sendJson({ type: 'connection_init' })
    await socket.nextJson()
    expect(open?.mock.calls).toEqual([[expect.stringMatching(expected)]])
  },
)
