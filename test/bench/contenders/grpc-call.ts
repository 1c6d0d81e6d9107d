import { connect } from 'node:http2'
import { createGrpcJsTransport } from '../../../packages/grpc-source/src/runtime/grpc-js-transport.ts'
import { createHttp2Transport } from '../../../packages/grpc-transport/src/index.ts'

const { BENCH_GRPC_URL: address = '', BENCH_METHOD, BENCH_TRANSPORT, BENCH_CALLS } = process.env
const path = `/bench.v1.CatalogService/${BENCH_METHOD}`
// An id or a limit: the backend's answer is the same whatever is asked.
const request = new Uint8Array()
const calls = Number(BENCH_CALLS)
const CONCURRENCY = 16

type Call = () => Promise<Uint8Array>

function byTransport(): Call {
  const create = BENCH_TRANSPORT === 'grpc-js' ? createGrpcJsTransport : createHttp2Transport
  const transport = create({ address, tls: undefined, channel: {} })
  const metadata = [['x-request-id', 'bench']] as const
  return () => transport.unary({ path, metadata, timeoutMs: 15_000, signal: undefined }, request)
}

/** No deadline, no cancellation, no errors: what nothing on Node's module can beat. */
function bare(): Call {
  const session = connect(`http://${address}`)
  const frame = Buffer.alloc(5)
  const headers = {
    ':method': 'POST',
    ':scheme': 'http',
    ':authority': address,
    ':path': path,
    te: 'trailers',
    'content-type': 'application/grpc',
    'grpc-timeout': '15000m',
    'x-request-id': 'bench',
  }
  return () =>
    new Promise((resolve, reject) => {
      const stream = session.request(headers, { endStream: false })
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('trailers', () =>
        resolve((chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))?.subarray(5) ?? new Uint8Array()),
      )
      stream.on('error', reject)
      stream.end(frame)
    })
}

const call = BENCH_TRANSPORT === 'bare node:http2' ? bare() : byTransport()
const expected = (await call()).length
if (expected === 0) throw new Error('the backend answered with nothing')

async function run(count: number): Promise<void> {
  let left = count
  const one = async (): Promise<void> => {
    while (left-- > 0) {
      const { length } = await call()
      if (length !== expected) throw new Error(`${length} bytes in place of ${expected}`)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, one))
}

async function measure(): Promise<void> {
  const before = process.cpuUsage()
  await run(calls)
  const { user, system } = process.cpuUsage(before)
  process.send?.({ cpuMicros: (user + system) / calls, rssBytes: process.memoryUsage.rss() })
}

// grpc-js takes some seconds until it is as fast as it gets.
await run(calls)
process.on('message', () => void measure())
process.on('disconnect', () => process.exit(0))
process.send?.({ url: '', versions: {} })
