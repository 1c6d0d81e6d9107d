import { connectRawWebSocket } from '@vinyasa/test-kit'
import { expect, it } from 'vitest'
import { attachLiveServer } from '../src/ws.ts'
import { startLive, subscribe, USERS } from './support.ts'

it('sockets of two paths are told apart, whatever ids their clients choose', async () => {
  const setup = await startLive()
  const other = attachLiveServer(setup.server, { plugin: setup.plugin, path: '/other' })
  try {
    const sockets = [
      await setup.ready(),
      await connectRawWebSocket(setup.wsUrl.replace('/graphql/live', '/other')),
    ]
    sockets[1]!.sendJson({ type: 'connection_init' })
    await sockets[1]!.next()
    for (const socket of sockets) {
      socket.sendJson(subscribe('a', USERS))
      expect(await socket.nextJson()).toMatchObject({ id: 'a', type: 'next', payload: { is_initial: true } })
    }
    sockets[1]!.terminate()
  } finally {
    await other.close()
    await setup.close()
  }
})
