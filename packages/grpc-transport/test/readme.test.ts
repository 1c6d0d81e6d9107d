import { readFileSync } from 'node:fs'
import { createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createHttp2Transport, GrpcCallError } from '../src/index.ts'

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

it("the README's example gets a reply, or the status of a service that is away", async () => {
  const server = createServer().on('stream', (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.end(Buffer.from([0, 0, 0, 0, 4, 0x0a, 2, 0x68, 0x69]))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const run = async (address: string): Promise<unknown> => {
    const [, example = ''] = /```ts\n([^`]*)```/.exec(README) ?? []
    const body = example
      .replace(/^import .*\n/, '')
      .replace('127.0.0.1:50051', address)
      .replace('export const reply =', 'const reply =')
      .replace('(error: unknown)', '(error)')
    const AsyncFunction = (async () => {}).constructor as new (
      ...text: string[]
    ) => (...given: unknown[]) => Promise<unknown>
    return new AsyncFunction('createHttp2Transport', 'GrpcCallError', `${body}\nreturn reply`)(
      createHttp2Transport,
      GrpcCallError,
    )
  }
  expect(
    Buffer.from((await run(`127.0.0.1:${(server.address() as AddressInfo).port}`)) as Uint8Array),
  ).toEqual(Buffer.from([0x0a, 2, 0x68, 0x69]))
  expect(await run('127.0.0.1:1')).toBe('UNAVAILABLE')
})
