import { createServer, type AddressInfo } from 'node:net'
import { createDisposables } from '@vinyasa/test-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { jsonReply, LISTED, PACKED, packedMessage, shred } from './hostile/large-replies.ts'
import { startRawGrpc } from './hostile/raw-grpc.ts'
import { startGateway, type RunningGateway } from './support/gateway.ts'
import { besideNeighbours, NEIGHBOURS_TIMEOUT_MS, type Neighbours } from './support/neighbours.ts'

const PROTO = `syntax = "proto3"; package h;
service Hostile { rpc Ask(AskRequest) returns (Reply); }
message AskRequest { string how = 1; int32 n = 2; }
message Reply { string id = 1; string filler = 2; }`

/** Queries of one client at once. */
const AT_ONCE = 200
/** A quarter of it is what the gateway holds for all clients together. */
const HEAP_MB = 256

const SMALL = jsonReply(Buffer.from('{"id":"1"}'))

/** What every change is held to: fewer rows; `pnpm test:faults` is all. */
const isQuick = process.env['FAULTS_QUICK'] === '1'

const disposables = createDisposables(afterAll)
let gateway: RunningGateway
let neighbours: Neighbours
let n = 0

beforeAll(async () => {
  const rest = createServer((socket) => {
    let text = ''
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
        const [, how] = /^GET \/(\w+)/.exec(text) ?? []
        text = text.slice(end + 4)
        if (how === 'shredded') shred(socket)
        else socket.write(how === 'packed' ? PACKED : how === 'listed' ? LISTED : SMALL)
      }
    })
  })
  await new Promise<void>((resolve) => rest.listen(0, '127.0.0.1', resolve))
  disposables.use({ close: () => rest.close() })
  const grpc = disposables.use(
    await startRawGrpc({
      onRequest(_, stream, message, send) {
        if (message.length > 0) send(packedMessage(stream))
      },
    }),
  )
  const responseSchema = { typeName: 'Thing', fields: { id: 'id!' } }
  gateway = disposables.use(
    await startGateway({
      args: ['--preset', 'production'],
      env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`, MALLOC_MMAP_THRESHOLD_: '131072' },
      untilReady: false,
      config: {
        grpc: {
          hostile: {
            endpoint: grpc.address,
            protoText: { 'h.proto': PROTO },
            methods: { 'h.Hostile.Ask': { schema: { name: 'hostileGrpc' } } },
          },
        },
        rest: {
          hostile: {
            baseUrl: `http://127.0.0.1:${(rest.address() as AddressInfo).port}`,
            noRetry: true,
            endpoints: [
              { name: 'thing', path: '/{how}/{n}', args: { how: 'String!', n: 'Int!' }, responseSchema },
            ],
          },
        },
      },
    }),
  )
  neighbours = {
    pid: gateway.process.pid,
    async ask() {
      const { data } = await gateway.query('query ($n: Int!) { thing(how: "small", n: $n) { id } }', {
        n: n++,
      })
      return data?.thing?.id === '1'
    },
  }
})

it.skipIf(isQuick).each([
  [
    'a REST backend sends 10 kB of gzip that become 9.8 MB of text',
    'thing(how: "packed", n: $n) { id }',
    AT_ONCE,
  ],
  ['a REST backend sends gzip that becomes 450,000 items', 'thing(how: "listed", n: $n) { id }', AT_ONCE],
  ['a REST backend sends 1,000,000 chunks of one byte', 'thing(how: "shredded", n: $n) { id }', 20],
  [
    'a gRPC backend sends 4 kB of gzip that become 3.9 MB',
    'hostileGrpc(how: "packed", n: $n) { id }',
    AT_ONCE,
  ],
])(
  '%s: others are answered as before',
  async (fault, field, atOnce) => {
    const counts = { answered: 0, refused: 0 }
    await besideNeighbours(neighbours, {
      area: 'memory',
      fault: `${fault}, to ${atOnce} queries at once`,
      async run(signal) {
        const attack = async (): Promise<void> => {
          while (!signal.aborted) {
            const query = gateway.query(`query ($n: Int!) { ${field} }`, { n: n++ })
            await query
              .then(({ data }) => (Object.values(data ?? {})[0] ? counts.answered++ : counts.refused++))
              .catch(() => {})
          }
        }
        await Promise.all(Array.from({ length: atOnce }, attack))
      },
    })
    expect(gateway.process.isRunning()).toBe(true)
    expect(counts.answered + counts.refused).toBeGreaterThan(0)
    process.stdout.write(`${fault}: ${JSON.stringify(counts)}\n`)
  },
  NEIGHBOURS_TIMEOUT_MS,
)
