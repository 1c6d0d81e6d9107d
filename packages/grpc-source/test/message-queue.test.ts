import { expect, it } from 'vitest'
import { MessageQueue } from '../../grpc-transport/src/grpc/message-queue.ts'

it('a server that streams empty messages to a slow reader is stopped, and goes on when they were read', async () => {
  const asked: string[] = []
  const queue = new MessageQueue({
    plain: ({ bytes }) => Promise.resolve(bytes),
    pause: () => asked.push('pause'),
    resume: () => asked.push('resume'),
    cancel: () => asked.push('cancel'),
  })
  let sent = 0
  for (; asked.length === 0 && sent < 100_000; sent++) {
    queue.message({ bytes: new Uint8Array(), isCompressed: false })
  }
  expect(sent).toBeLessThan(2_000)
  for (let read = 0; read < sent; read++) await queue.next()
  expect(asked).toEqual(['pause', 'resume'])
})
