// The hostile backends of `gateway.config.ts`, in a process of their own. Each request says how it is to be answered.
import { createServer, type AddressInfo } from 'node:net'
import { createRandom, type Random } from '@vinyasa/test-kit'
import { END_STREAM, fields, headers, reply } from '../hostile/frames.ts'
import {
  endlessMessages,
  fillerMessage,
  jsonReply,
  LISTED,
  PACKED,
  packedMessage,
  shred,
} from '../hostile/large-replies.ts'
import { badly } from '../hostile/grpc.ts'
import { startRawGrpc } from '../hostile/raw-grpc.ts'
import { answerBadly } from '../hostile/rest.ts'

const SERVING = Buffer.of(8, 1)
const EMPTY_ITEMS = Buffer.alloc(2_000_000, Buffer.of(0x0a, 0))
const item = (index: number): Buffer => {
  const name = Buffer.from(`user ${index} with a name of some length`)
  return Buffer.concat([Buffer.of(0x0a, name.length + 2, 0x0a, name.length), name])
}
const LIST = Buffer.concat(Array.from({ length: 10_000 }, (_, index) => item(index)))
const LONG_MESSAGE = fillerMessage(3_900_000)
const STREAMED_MESSAGE = fillerMessage(100_000)
const FAILED = fields([
  [':status', '200'],
  ['content-type', 'application/grpc'],
  ['grpc-status', '3'],
  ['grpc-message', 'no'.repeat(150_000)],
])

const anyBytes = (random: Random): Buffer =>
  Buffer.from(Array.from({ length: random.below(2_000) }, () => random.below(256)))

const grpc = await startRawGrpc({
  onRequest(socket, stream, message, send) {
    // The health service is asked with an empty message.
    if (message.length === 0) {
      send(reply(stream, SERVING))
      return
    }
    const how = message.toString('latin1', 2, 2 + message[1]!)
    const random = createRandom(0, message.toString('hex'))
    if (how === 'frames') {
      socket.write(Buffer.concat(badly(stream, random)))
      if (random.chance(0.1)) socket.resetAndDestroy()
    } else if (how === 'bytes') send(reply(stream, anyBytes(random)))
    else if (how === 'empty') send(reply(stream, EMPTY_ITEMS))
    else if (how === 'list') send(reply(stream, LIST))
    else if (how === 'packed') send(packedMessage(stream))
    else if (how === 'long') send(reply(stream, LONG_MESSAGE))
    else if (how === 'stream') send(endlessMessages(stream, STREAMED_MESSAGE, 30))
    else socket.write(headers(END_STREAM, stream, FAILED))
  },
})

const REPLIES: Readonly<Record<string, Buffer>> = {
  brackets: jsonReply(Buffer.from('['.repeat(4_000_000))),
  list: jsonReply(
    Buffer.from(
      JSON.stringify(
        Array.from({ length: 10_000 }, (_, id) => ({ id, name: `row ${id}`, tags: ['a', 'b', id] })),
      ),
    ),
  ),
  packed: PACKED,
  listed: LISTED,
}
const EMPTY = jsonReply(Buffer.from('{}'))

const rest = createServer((socket) => {
  let text = ''
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
    // It does not read what it is sent.
    if (text.startsWith('POST')) return void socket.pause()
    for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
      const [, how = '', seed] = /^GET \/(\w+)\/?(\d*)/.exec(text) ?? []
      text = text.slice(end + 4)
      if (how === 'anything') answerBadly(socket, createRandom(Number(seed), 'rest'))
      else if (how === 'shredded') shred(socket)
      else socket.write(REPLIES[how] ?? EMPTY)
    }
  })
})
await new Promise<void>((resolve) => rest.listen(0, '127.0.0.1', resolve))
process.stdout.write(`hostile: ${grpc.address} http://127.0.0.1:${(rest.address() as AddressInfo).port}\n`)
