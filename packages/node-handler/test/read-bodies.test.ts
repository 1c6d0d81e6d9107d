import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createDisposables } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createNodeHandler } from '../src/index.ts'
import { buildYoga } from './doors.ts'

const query = '{ hello(name: "Ada") }'
const answer = { data: { hello: 'hello Ada' } }

/** A framework in front: what it does with a request before it calls the handler. */
type Framework = (request: IncomingMessage & { body?: unknown }, handle: () => void) => void

async function mount(before: Framework) {
  const plugins = [{ onRequest: ({ request }: { request: Request }) => void (looks && request.body) }]
  let looks = false
  const handler = createNodeHandler(buildYoga({ plugins }))
  const server = createServer((request, response) => before(request, () => void handler(request, response)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  createDisposables(onTestFinished).use(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`
  return async (atTheStream: boolean) => {
    looks = atTheStream
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
      signal: AbortSignal.timeout(5_000),
    })
    return { status: response.status, body: (await response.json()) as any }
  }
}

/** As body parsers read: they go on while the stream says that it ended. */
function readAll(request: IncomingMessage, done: (text: string) => void): void {
  let text = ''
  request.on('data', (chunk) => (text += String(chunk)))
  request.once('end', () => done(text))
}

/** Reads the body and puts something made of it into `req.body`. */
function parser(parse: (text: string) => unknown): Framework {
  return (request, handle) =>
    readAll(request, (text) => {
      request.body = parse(text)
      handle()
    })
}

/** Puts a body beside the stream. */
function beside(body: unknown): Framework {
  return (request, handle) => {
    request.body = body
    handle()
  }
}

describe.each([
  ['read by the handler', false],
  ['made a stream by a plugin', true],
])('a body that a framework has read, %s', (_, atTheStream) => {
  it.each<[string, Framework]>([
    ['parsed JSON', parser(JSON.parse)],
    ['text', parser(String)],
    ['bytes', parser((text) => Buffer.from(text))],
    ['JSON beside a stream that nobody reads', beside({ query })],
    ['an empty object beside an unread stream', beside({})],
  ])('is taken from req.body: %s', async (__, before) => {
    const ask = await mount(before)
    expect(await ask(atTheStream)).toMatchObject({ status: 200, body: answer })
  })

  it('and kept to itself is 400 with what to do, not a request that hangs', async () => {
    const ask = await mount((request, handle) => readAll(request, handle))
    const { status, body } = await ask(atTheStream)
    expect(status).toBe(400)
    expect(body.errors[0].extensions.code).toBe('REQUEST_BODY_ALREADY_READ')
  })
})
