import { connectRawWebSocket } from '@vinyasa/test-kit'
import { onTestFinished } from 'vitest'

/** What the status page is told, each time it changes, until the test ends. */
export async function watchStatus(url: string, query: string): Promise<{ next(): Promise<any> }> {
  const socket = await connectRawWebSocket(`${url.replace('http', 'ws')}/status/live`, {
    protocol: 'graphql-transport-ws',
    headers: { origin: url },
  })
  onTestFinished(() => void socket.close())
  socket.sendJson({ type: 'connection_init' })
  await socket.next()
  socket.sendJson({ id: '1', type: 'subscribe', payload: { query } })
  return { next: async () => (await socket.next()).json().payload.data.status }
}
