import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createDisposables, spawnProcess, waitUntil, temporaryFolder } from '@vinyasa/test-kit'
import { afterEach, describe, expect, it } from 'vitest'
import { createGateway } from '../src/gateway.ts'
import { createLogger } from '../src/logging/logger.ts'
import { serve } from '../src/server.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

interface Received {
  bytes: number
  readonly type: string | undefined
  isWhole: boolean
  isCut: boolean
}

/** An API that counts the bytes it is sent, and keeps none. */
async function startCounter(isSlow = false): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = []
  const server = createServer((request: IncomingMessage, response) => {
    const one: Received = { bytes: 0, type: request.headers['content-type'], isWhole: false, isCut: false }
    received.push(one)
    request.on('data', (chunk: Buffer) => {
      one.bytes += chunk.length
      if (!isSlow) return
      request.pause()
      setImmediate(() => request.resume())
    })
    request.on('end', () => {
      one.isWhole = true
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ bytes: one.bytes }))
    })
    request.on('error', () => (one.isCut = true))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanup.use({
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

const upload = {
  method: 'POST' as const,
  responseSchema: { typeName: 'Stored', fields: { bytes: 'int' as const } },
}
const endpoints = [
  { ...upload, name: 'put', path: '/put', args: { input: 'Upload!' }, body: { contentType: 'image/png' } },
  {
    ...upload,
    name: 'form',
    path: '/form',
    args: { input: 'JSON!' },
    body: { contentType: 'multipart/form-data' },
  },
]

/** Resident bytes of a process, as Linux counts them. */
function memoryOf(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

/** The built gateway in a process of its own, whose memory is nobody else's. */
async function startProcess(api: string): Promise<{ gateway: string; pid: number }> {
  const config = {
    log: { format: 'json' },
    server: { port: 0 },
    graphql: { uploads: { maxFileBytes: 200_000_000 } },
    rest: { files: { baseUrl: api, endpoints } },
  }
  const file = join(await temporaryFolder('uploads'), 'gateway.config.json')
  await writeFile(file, JSON.stringify(config))
  const gateway = cleanup.use(
    await spawnProcess({
      command: process.execPath,
      args: [fileURLToPath(new URL('../dist/main.js', import.meta.url)), 'start', '--config', file],
      ready: /"url":"(http:[^"]+)\/graphql".*"msg":"gateway ready"/,
    }),
  )
  return { gateway: gateway.ready?.[1] ?? '', pid: gateway.pid }
}

async function startGateway(api: string, maxFileBytes = 200_000_000): Promise<string> {
  const logger = await createLogger({ level: 'silent' })
  const gateway = await createGateway(
    {
      graphql: { uploads: { maxFileBytes } },
      rest: {
        files: {
          baseUrl: api,
          endpoints,
        },
      },
    },
    { baseDirectory: '/', logger },
  )
  const server = await serve(gateway, { port: 0 })
  cleanup.use({ [Symbol.asyncDispose]: () => server.close({ graceMs: 100 }) })
  return server.url
}

const part = (name: string, value: object): string =>
  `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${JSON.stringify(value)}\r\n`
const head = (name: string): string =>
  `--b\r\ncontent-disposition: form-data; name="${name}"; filename="${name}.png"\r\ncontent-type: image/png\r\n\r\n`
const PUT =
  part('operations', {
    query: 'mutation ($file: Upload!) { put(input: $file) { bytes } }',
    variables: { file: null },
  }) + part('map', { 0: ['variables.file'] })
const FORM =
  part('operations', {
    query: 'mutation ($input: JSON!) { form(input: $input) { bytes } }',
    variables: { input: { first: null, second: null } },
  }) + part('map', { 0: ['variables.input.first'], 1: ['variables.input.second'] })

const CHUNK = Buffer.alloc(64 * 1024, 'x')

function open(url: string) {
  const request = httpRequest(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  })
  const answer = new Promise<any>((resolve, reject) => {
    request.on('error', reject)
    request.on('response', (response) => {
      let text = ''
      response.on('data', (chunk) => (text += chunk))
      response.on('end', () => resolve(JSON.parse(text)))
    })
  })
  answer.catch(() => {})
  /** Writes so many bytes, no faster than they are read; calls back after each chunk. */
  async function write(size: number, onChunk = () => {}): Promise<void> {
    for (let left = size; left > 0; left -= CHUNK.length) {
      const isRoom = request.write(CHUNK.subarray(0, Math.min(left, CHUNK.length)))
      onChunk()
      if (!isRoom) await new Promise((resolve) => request.once('drain', resolve))
    }
  }
  return { request, answer, write }
}

describe('a file through the gateway to an API', () => {
  it.each([false, true])('100 MB take no more than 30 MB of memory; a slow API: %s', async (isSlow) => {
    const { url, received } = await startCounter(isSlow)
    const { gateway, pid } = await startProcess(url)
    const send = async (size: number): Promise<{ peak: number; answer: unknown }> => {
      const { request, answer, write } = open(gateway)
      let peak = 0
      request.write(PUT + head('0'))
      await write(size, () => (peak = Math.max(peak, memoryOf(pid))))
      request.end('\r\n--b--\r\n')
      return { peak: Math.max(peak, memoryOf(pid)), answer: await answer }
    }
    // What is loaded and compiled for any upload, and the room that V8 takes for garbage.
    for (let round = 0; round < 20; round++) await send(1_000_000)
    const { peak: small } = await send(1_000_000)
    const { peak: large, answer } = await send(100_000_000)
    expect(answer).toEqual({ data: { put: { bytes: 100_000_000 } } })
    expect(received.at(-1)).toMatchObject({ bytes: 100_000_000, type: 'image/png' })
    process.stdout.write(`100 MB: ${((large - small) / 1e6).toFixed(1)} MB more than for 1 MB\n`)
    expect(large - small).toBeLessThan(30_000_000)
  })

  it('two files of a form, one behind the other', async () => {
    const { url, received } = await startCounter()
    const { request, answer, write } = open(await startGateway(url))
    request.write(FORM + head('0'))
    await write(5_000_000)
    request.write(`\r\n${head('1')}`)
    await write(7_000_000)
    request.end('\r\n--b--\r\n')
    const { data } = await answer
    expect(data.form.bytes).toBeGreaterThan(12_000_000)
    expect(data.form.bytes).toBeLessThan(12_001_000)
    expect(received[0]?.type).toMatch(/^multipart\/form-data; boundary=/)
  })

  it('a client that leaves halfway: the API sees no whole request', async () => {
    const { url, received } = await startCounter()
    const { request, write } = open(await startGateway(url))
    request.write(PUT + head('0'))
    await write(3_000_000)
    await waitUntil(() => (received[0]?.bytes ?? 0) > 1_000_000)
    request.destroy()
    await waitUntil(() => received[0]?.isCut)
    expect(received[0]?.isWhole).toBe(false)
  })

  it('a file that is too large: 413 in its code, and the API sees no whole request', async () => {
    const { url, received } = await startCounter()
    const { request, answer, write } = open(await startGateway(url, 1_000_000))
    request.write(PUT + head('0'))
    await write(4_000_000)
    request.end('\r\n--b--\r\n')
    const { errors } = await answer
    expect(errors[0]).toMatchObject({
      message: expect.stringContaining('larger than 1000000 bytes'),
      extensions: { code: 'REQUEST_ENTITY_TOO_LARGE' },
    })
    expect(received[0]?.isWhole ?? false).toBe(false)
  })
})
