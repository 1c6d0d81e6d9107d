import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2Server, constants } from 'node:http2'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createLedger, type Ledger } from '@vinyasa/core'
import { createDisposables, waitUntil } from '@vinyasa/test-kit'
import { createSchema } from 'graphql-yoga'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { guardBody } from '../src/http/body.ts'
import { createNodeHandler, type UploadedFile, useUploads } from '../src/index.ts'
import { buildYoga, graphql, type YogaOptions } from './doors.ts'

const BUDGET = 4_000_000
const LEDGER = Symbol.for('vinyasa.ledger')
let ledger: Ledger

beforeEach(() => {
  ledger = createLedger(BUDGET)
  const shared = globalThis as { [LEDGER]?: Ledger | undefined }
  const before = shared[LEDGER]
  shared[LEDGER] = ledger
  return () => void (shared[LEDGER] = before)
})

interface Client {
  readonly socket: Socket
  readonly received: () => string
  readonly isClosed: () => boolean
}

async function serve(
  options: YogaOptions = {},
  wrap = (handler: RequestListener): RequestListener => handler,
) {
  const server = createServer(wrap(createNodeHandler(buildYoga(options)) as RequestListener))
  server.keepAliveTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  createDisposables(onTestFinished).use(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return async function open(): Promise<Client> {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    onTestFinished(() => void socket.destroy())
    let [text, isClosed] = ['', false]
    socket.setEncoding('latin1').on('data', (part: string) => (text += part))
    socket.on('close', () => (isClosed = true))
    await once(socket, 'connect')
    return { socket, received: () => text, isClosed: () => isClosed }
  }
}

const headOf = (headers: string, method = 'POST', version = '1.1'): string =>
  `${method} /graphql HTTP/${version}\r\nHost: x\r\n${headers}\r\n`
const CHUNKED = 'Transfer-Encoding: chunked\r\n'
const JSON_TYPE = 'Content-Type: application/json\r\n'
const HELLO = graphql('{ hello }')

/** A body, cut into chunks of so many bytes. */
function chunksOf(body: string, size: number, extension = ''): string {
  let text = ''
  for (let at = 0; at < body.length; at += size) {
    const chunk = body.slice(at, at + size)
    text += `${chunk.length.toString(16)}${extension}\r\n${chunk}\r\n`
  }
  return `${text}0\r\n\r\n`
}

const padded = (bytes: number): string => HELLO + ' '.repeat(bytes - HELLO.length)
const multipart = (content: string): string =>
  `--b\r\ncontent-disposition: form-data; name="operations"\r\n\r\n{"query":"{ hello }"}\r\n--b\r\ncontent-disposition: form-data; name="map"\r\n\r\n{}\r\n--b\r\ncontent-disposition: form-data; name="x"\r\n\r\n${content}\r\n--b--\r\n`

/** Reads all of the body at its stream. */
const reader = {
  async onRequest({ request }: { request: Request }) {
    const reading = request.body?.getReader()
    for (let next = await reading?.read(); next && !next.done; next = await reading?.read());
  },
}

describe('a body in chunks of one byte', () => {
  it.each<[string, string, YogaOptions]>([
    ['JSON', headOf(JSON_TYPE + CHUNKED), {}],
    ['JSON of GraphQL', headOf(`Content-Type: application/graphql+json\r\n${CHUNKED}`), {}],
    ["a document, at Yoga's own door", headOf(`Content-Type: application/graphql\r\n${CHUNKED}`), {}],
    ['a form', headOf(`Content-Type: application/x-www-form-urlencoded\r\n${CHUNKED}`), {}],
    ['parts of a form', headOf(`Content-Type: multipart/form-data; boundary=b\r\n${CHUNKED}`), {}],
    [
      'an upload',
      headOf(`Content-Type: multipart/form-data; boundary=b\r\n${CHUNKED}`),
      { plugins: [useUploads()] },
    ],
    ['a type that nobody reads', headOf(`Content-Type: video/mp4\r\n${CHUNKED}`), { plugins: [reader] }],
    ['a body whose client waits for 100', headOf(`Expect: 100-continue\r\n${JSON_TYPE}${CHUNKED}`), {}],
    ['a body that a plugin reads', headOf(JSON_TYPE + CHUNKED), { plugins: [reader] }],
    [
      'a body that waits for a plugin',
      headOf(JSON_TYPE + CHUNKED),
      { plugins: [{ onRequest: () => new Promise(() => {}) }] },
    ],
  ])('is refused with 400 and the connection is closed: %s', async (_, head, options) => {
    const { socket, received, isClosed } = await (await serve(options))()
    socket.write(head + chunksOf(multipart('x'.repeat(5_000)), 1))
    await waitUntil(isClosed)
    expect(received()).toMatch(/^(?:HTTP\/1.1 100 Continue\r\n\r\n)?HTTP\/1.1 400 /)
    expect(received()).toContain('too many small chunks. Send larger chunks.')
    expect(ledger.bytes).toBe(0)
  })

  it('is refused with extensions of chunks', async () => {
    const { socket, received } = await (await serve())()
    socket.write(headOf(JSON_TYPE + CHUNKED) + chunksOf(padded(5_000), 1, ';name="value"'))
    await waitUntil(() => received() !== '')
    expect(received()).toMatch(/^HTTP\/1.1 400 /)
  })

  it.each([
    ['of a POST', headOf(JSON_TYPE + CHUNKED)],
    ['of a GET, which nobody reads', headOf(JSON_TYPE + CHUNKED, 'GET')],
    ['behind a response', headOf(JSON_TYPE + CHUNKED).replace('/graphql', '/nowhere')],
  ])('is not read on: %s', async (_, head) => {
    const { socket, isClosed } = await (await serve())()
    socket.write(head)
    const chunks = '1\r\n \r\n'.repeat(10_000)
    while (!isClosed() && socket.bytesWritten < 100_000_000) {
      socket.write(chunks)
      await new Promise(setImmediate)
    }
    expect(isClosed()).toBe(true)
  })

  it('does not reset the connection if the response has been sent', async () => {
    const calls: string[] = []
    const open = await serve({}, () => (request, response) => {
      const { socket } = request
      vi.spyOn(socket, 'destroySoon').mockImplementation(() => void calls.push('destroySoon'))
      vi.spyOn(socket, 'destroy').mockImplementation(() => (calls.push('destroy'), socket))
      onTestFinished(() => void vi.restoreAllMocks())
      guardBody(request, response)
      request.resume()
      response.writeHead(403).end()
    })
    const { socket, received } = await open()
    socket.write(headOf(JSON_TYPE + CHUNKED) + '1\r\n \r\n'.repeat(5_000))
    await waitUntil(() => received().startsWith('HTTP/1.1 403 ') && calls.length > 0)
    await new Promise(setImmediate)
    expect(calls).not.toContain('destroy')
  })

  it.each([
    ['a thousand tiny chunks', padded(900), 1],
    ['many chunks of 100 bytes', padded(100_000), 100],
    ['tiny chunks within a large body', padded(300_000), 150],
  ])('others are answered: %s', async (_, body, size) => {
    const { socket, received } = await (await serve())()
    socket.write(headOf(JSON_TYPE + CHUNKED) + chunksOf(body, size))
    await waitUntil(() => received() !== '')
    expect(received()).toContain('hello world')
    await waitUntil(() => ledger.bytes === 0)
  })
})

describe('the ledger', () => {
  const BEGUN = headOf(`${JSON_TYPE}Content-Length: 1000001\r\n`)
  const piece = (bytes: number): string => ' '.repeat(bytes)

  it('is not touched by a small body in one piece', async () => {
    const hold = vi.spyOn(ledger, 'hold')
    const { socket, received } = await (await serve())()
    socket.write(`${headOf(`${JSON_TYPE}Content-Length: ${HELLO.length}\r\n`)}${HELLO}`)
    socket.write(headOf(JSON_TYPE + CHUNKED) + chunksOf(HELLO, 100))
    await waitUntil(() => received().split('hello world').length === 3)
    expect(hold).not.toHaveBeenCalled()
  })

  it.each([
    ['Content-Length', BEGUN, (text: string) => text],
    ['chunks', headOf(JSON_TYPE + CHUNKED), (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`],
    [
      "chunks, at Yoga's own door",
      headOf(`Content-Type: application/graphql\r\n${CHUNKED}`),
      (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`,
    ],
  ])('counts an unfinished body until its client leaves: %s', async (_, head, chunk) => {
    const { socket } = await (await serve())()
    socket.write(head + chunk(piece(100_000)))
    await waitUntil(() => ledger.bytes > 100_000)
    socket.write(chunk(piece(100_000)))
    await waitUntil(() => ledger.bytes > 200_000)
    expect(ledger.bytes).toBeLessThan(250_000)
    socket.destroy()
    await waitUntil(() => ledger.bytes === 0)
  })

  it('counts what a request becomes until it is answered', async () => {
    const seen: number[] = []
    const look = { onExecute: () => void seen.push(ledger.bytes) }
    const { socket, received } = await (await serve({ plugins: [look] }))()
    const send = (body: string): boolean =>
      socket.write(`${headOf(`${JSON_TYPE}Content-Length: ${body.length}\r\n`)}${body}`)
    send(graphql(`{ hello(name: "${'x'.repeat(20_000)}") }`))
    await waitUntil(() => seen.length === 1)
    send(`{"query":"{ hello }","variables":{"a":[${'{},'.repeat(20_000)}0]}}`)
    await waitUntil(() => seen.length === 2 && received().includes('hello world'))
    const [text = 0, objects = 0] = seen
    expect(text).toBeGreaterThan(50_000)
    expect(text).toBeLessThan(100_000)
    // An empty object takes 56 bytes.
    expect(objects).toBeGreaterThan(56 * 20_000)
    await waitUntil(() => ledger.bytes === 0)
  })

  it('drops the largest of a budget with 503 and frees its memory; others are not affected', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const open = await serve()
    const small = await open()
    const ordinary = padded(100_000)
    small.socket.write(headOf(`${JSON_TYPE}Content-Length: 100000\r\n`) + ordinary.slice(0, 90_000))
    const large = await Promise.all(Array.from({ length: 10 }, open))
    collect()
    const before = process.memoryUsage().arrayBuffers
    for (const { socket } of large) socket.write(BEGUN + piece(900_000))
    const dropped = (): Client[] => large.filter(({ received }) => received().startsWith('HTTP/1.1 503 '))
    await waitUntil(() => dropped().length >= 6 && dropped().every(({ isClosed }) => isClosed()))
    expect(dropped()[0]?.received()).toMatch(/connection: close.*retry-after: 1.*OVERLOADED/is)
    expect(dropped().length).toBeLessThan(10)
    expect(ledger.bytes).toBeLessThan(BUDGET)
    await waitUntil(() => {
      collect()
      return process.memoryUsage().arrayBuffers - before < 1.2 * BUDGET
    })
    small.socket.write(ordinary.slice(90_000))
    await waitUntil(() => small.received().includes('hello world'))
  })

  const LONG = `{ hello(name: "${'x'.repeat(200_000)}") }`
  it.each([
    ['JSON', JSON_TYPE, graphql(LONG)],
    ["a document, at Yoga's own door", 'Content-Type: application/graphql\r\n', LONG],
  ])('cancels a request in execution, and closes its connection with 503: %s', async (_, type, body) => {
    const signals: AbortSignal[] = []
    const hang = {
      onExecute: ({ args }: { args: { contextValue: { request: Request } } }) =>
        new Promise<void>((resolve) => {
          const { signal } = args.contextValue.request
          signals.push(signal)
          signal.addEventListener('abort', () => resolve())
        }),
    }
    const { socket, received, isClosed } = await (await serve({ plugins: [hang] }))()
    socket.write(`${headOf(`${type}Content-Length: ${body.length}\r\n`)}${body}`)
    await waitUntil(() => signals.length === 1)
    const other = ledger.hold('other', BUDGET - 10)
    await waitUntil(isClosed)
    expect(received()).toMatch(/^HTTP\/1.1 503 /)
    expect(signals[0]?.aborted).toBe(true)
    expect(ledger.bytes).toBe(BUDGET - 10)
    other.release()
  })

  it('aborts the signal of a request that it has answered with 503, however late somebody reads it', async () => {
    let goOn = (): void => {}
    const gate = new Promise<void>((resolve) => (goOn = resolve))
    const seen: boolean[] = []
    const late = {
      async onExecute({ args }: { args: { contextValue: { request: Request } } }) {
        seen.push(false)
        await gate
        seen.push(args.contextValue.request.signal.aborted)
      },
    }
    const { socket, isClosed } = await (await serve({ plugins: [late] }))()
    const body = graphql(LONG)
    socket.write(`${headOf(`${JSON_TYPE}Content-Length: ${body.length}\r\n`)}${body}`)
    await waitUntil(() => seen.length === 1)
    const other = ledger.hold('other', BUDGET - 10)
    await waitUntil(isClosed)
    goOn()
    await waitUntil(() => seen.length === 2)
    expect(seen).toEqual([false, true])
    other.release()
  })

  it('closes the connection of a response that has begun', async () => {
    const { socket, received, isClosed } = await (
      await serve({}, (handler) => (request, response) => {
        handler(request, response)
        response.writeHead(200).write('begun')
      })
    )()
    socket.write(BEGUN + piece(100_000))
    await waitUntil(() => received().includes('begun') && ledger.bytes > 0)
    ledger.hold('other', BUDGET)
    await waitUntil(isClosed)
    expect(received()).not.toContain('503')
  })

  it('ends streams of HTTP/2 that hold most', async () => {
    const server = createHttp2Server(createNodeHandler(buildYoga()) as never)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    createDisposables(onTestFinished).use(async () => {
      session.destroy()
      await new Promise((resolve) => server.close(resolve))
    })
    const head = { ':method': 'POST', ':path': '/graphql', 'content-type': 'application/json' }
    const ask = session.request(head)
    ask.end(HELLO)
    const [headers] = (await once(ask, 'response')) as [Record<string, unknown>]
    expect(headers[constants.HTTP2_HEADER_STATUS]).toBe(200)
    const stream = session.request(head).on('error', () => {})
    stream.write(piece(50_000))
    await waitUntil(() => ledger.bytes > 50_000)
    ledger.hold('other', BUDGET)
    await once(stream, 'close')
  })

  it('does not count bytes of a file that are passed on, but those of one that is kept', async () => {
    const file = (name: string, content: string): string =>
      `--b\r\ncontent-disposition: form-data; name="${name}"; filename="a"\r\n\r\n${content}\r\n`
    const upload = (field: string): string =>
      `--b\r\ncontent-disposition: form-data; name="operations"\r\n\r\n{"query":"mutation($file: Upload!) { ${field}(file: $file) }","variables":{"file":null}}\r\n--b\r\ncontent-disposition: form-data; name="map"\r\n\r\n{"0":["variables.file"]}\r\n`
    const schema = createSchema({
      typeDefs:
        'scalar Upload type Query { a: Int } type Mutation { stream(file: Upload!): Int keep(file: Upload!): Int }',
      resolvers: {
        Mutation: {
          async stream(_: unknown, { file }: { file: UploadedFile }) {
            let bytes = 0
            for await (const part of file.stream()) bytes += part.length
            return bytes
          },
          keep: async (_: unknown, { file }: { file: UploadedFile }) => (await file.arrayBuffer()).byteLength,
        },
      },
    })
    const open = await serve({ schema, plugins: [useUploads()] })
    const ask = async (field: string): Promise<Client> => {
      const client = await open()
      const body = `${upload(field)}${file('0', 'x'.repeat(2 * BUDGET))}--b--\r\n`
      client.socket.write(
        `${headOf(`Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${body.length}\r\n`)}${body}`,
      )
      return client
    }
    const streamed = await ask('stream')
    await waitUntil(() => streamed.received().includes(`{"stream":${2 * BUDGET}}`))
    const kept = await ask('keep')
    await waitUntil(kept.isClosed)
    expect(kept.received()).toMatch(/^HTTP\/1.1 503 /)
    await waitUntil(() => ledger.bytes === 0)
  })
})

describe('a response before the body is complete', () => {
  it.each([
    ['closes the connection of a chunked body', CHUNKED, true],
    ['keeps the connection of a body with a length', 'Content-Length: 1000000\r\n', false],
  ])('%s', async (_, length, closes) => {
    const { socket, received, isClosed } = await (await serve({ graphqlEndpoint: '/elsewhere' }))()
    socket.write(headOf(JSON_TYPE + length) + (closes ? '1\r\n \r\n' : ' '))
    await waitUntil(() => received().includes('HTTP/1.1 404 '))
    if (!closes)
      socket.write(`${' '.repeat(999_999)}GET /elsewhere?query={hello} HTTP/1.1\r\nHost: x\r\n\r\n`)
    await waitUntil(() => isClosed() || received().includes('hello world'))
    expect(isClosed()).toBe(closes)
  })

  it('keeps the connection of a chunked body that came with its head', async () => {
    const { socket, received, isClosed } = await (await serve({ graphqlEndpoint: '/elsewhere' }))()
    socket.write((headOf(JSON_TYPE + CHUNKED) + chunksOf(HELLO, 100)).repeat(2))
    await waitUntil(() => isClosed() || received().split('HTTP/1.1 404 ').length === 3)
    expect(isClosed()).toBe(false)
  })
})

it('answers HTTP/1.0', async () => {
  const { socket, received, isClosed } = await (await serve())()
  const body = padded(100_000)
  socket.write(
    headOf(`${JSON_TYPE}Content-Length: ${body.length}\r\n`, 'POST', '1.0') + body.slice(0, 50_000),
  )
  await waitUntil(() => ledger.bytes > 0)
  socket.write(body.slice(50_000))
  await waitUntil(isClosed)
  expect(received()).toContain('hello world')
  expect(ledger.bytes).toBe(0)
})
