// The hostile backends of `gateway.config.ts`, in a process of their own. Each request says how it is to be answered.
import { createServer, type AddressInfo } from 'node:net'
import { createRandom, type Random } from '@vinyasa/test-kit'
import { END_STREAM, fields, headers, reply } from '../hostile/frames.ts'
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
    else socket.write(headers(END_STREAM, stream, FAILED))
  },
})

const json = (body: string): string =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const BRACKETS = json('['.repeat(4_000_000))
const ROWS = json(
  JSON.stringify(
    Array.from({ length: 10_000 }, (_, id) => ({ id, name: `row ${id}`, tags: ['a', 'b', id] })),
  ),
)

const rest = createServer((socket) => {
  let text = ''
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
    for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
      const [, how, seed] = /^GET \/(\w+)\/?(\d*)/.exec(text) ?? []
      text = text.slice(end + 4)
      if (how === 'anything') answerBadly(socket, createRandom(Number(seed), 'rest'))
      else socket.write(how === 'brackets' ? BRACKETS : how === 'list' ? ROWS : json('{}'))
    }
  })
})
await new Promise<void>((resolve) => rest.listen(0, '127.0.0.1', resolve))
process.stdout.write(`hostile: ${grpc.address} http://127.0.0.1:${(rest.address() as AddressInfo).port}\n`)
