import { Worker } from 'node:worker_threads'
import { expect, it, onTestFinished } from 'vitest'
import { createHttp2Transport } from '../src/index.ts'

/** Answers after 1.5 s, in a thread of its own. */
const SERVER = `
const { parentPort } = require('node:worker_threads')
const server = require('node:http2').createServer()
server.on('stream', (stream) => {
  stream.on('error', () => {})
  setTimeout(() => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.end(Buffer.from([0, 0, 0, 0, 0]))
  }, 1500)
})
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`

function block(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

it.each([
  ['a ping is on its way', { keepalive: { timeMs: 50, timeoutMs: 200 }, connectTimeoutMs: 0 }, true],
  ['it connects', { connectTimeoutMs: 400 }, false],
])('a process that is busy while %s does not drop the connection', async (_, channel, isConnected) => {
  const worker = new Worker(SERVER, { eval: true })
  onTestFinished(async () => void (await worker.terminate()))
  const port = await new Promise<number>((resolve) => worker.once('message', resolve))
  const transport = createHttp2Transport({ address: `127.0.0.1:${port}`, tls: undefined, channel })
  onTestFinished(() => transport.close())
  const ask = (): Promise<Uint8Array> =>
    transport.unary(
      { path: '/w.S/Get', metadata: [], timeoutMs: 10_000, signal: undefined },
      Buffer.from('ask'),
    )
  if (isConnected) await ask()
  const reply = ask()
  reply.catch(() => {})
  for (let turn = 0; turn < 3; turn++) {
    block(450)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await reply).toHaveLength(0)
})
