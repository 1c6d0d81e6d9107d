import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createDisposables, waitUntil } from '@vinyasa/test-kit'
import { createSchema, createYoga } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import { createNodeHandler, useUploads, type UploadedFile } from '../src/index.ts'
import type { UploadOptions } from '../src/uploads/use-uploads.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

const BOUNDARY = 'xyz'

/** Parts of a multipart body, as a client writes them. */
const field = (name: string, value: unknown): string =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${typeof value === 'string' ? value : JSON.stringify(value)}\r\n`
const head = (name: string, fileName: string): string =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"; filename="${fileName}"\r\ncontent-type: text/css\r\n\r\n`
const file = (name: string, content: string): string => `${head(name, `${name}.css`)}${content}\r\n`
const END = `--${BOUNDARY}--\r\n`

const typeDefs = /* GraphQL */ `
  scalar Upload
  type Query {
    hello: String
  }
  type Mutation {
    read(file: Upload!): String
    name(file: Upload!): String
    none(file: Upload): String
    both(first: Upload!, second: Upload!, reverse: Boolean): String
    together(files: [Upload!]!): [String]
  }
`

interface Both {
  readonly first: UploadedFile
  readonly second: UploadedFile
  readonly reverse?: boolean
}

const resolvers = {
  Query: { hello: () => 'world' },
  Mutation: {
    read: (_: unknown, { file }: { file: UploadedFile }) => file.text(),
    async name(_: unknown, { file }: { file: UploadedFile }) {
      await file.arrived()
      return `${file.name} ${file.type} ${String(file)}`
    },
    none: () => 'not read',
    async both(_: unknown, { first, second, reverse }: Both) {
      const order = reverse ? [second, first] : [first, second]
      const texts: number[] = []
      for (const one of order) texts.push((await one.text()).length)
      return texts.join(' ')
    },
    together: (_: unknown, { files }: { files: UploadedFile[] }) => files.map((one) => one.text()),
  },
}

async function serve(options: UploadOptions = {}) {
  const yoga = createYoga({
    schema: createSchema({ typeDefs, resolvers }),
    plugins: [useUploads(options)],
    maskedErrors: false,
    logging: false,
  })
  const server = createServer(createNodeHandler(yoga))
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanup.use({
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  })
  const { port } = server.address() as AddressInfo
  const open = () =>
    httpRequest({
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: '/graphql',
      headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    })
  const send = (body: string): Promise<{ status: number; json: any }> =>
    new Promise((resolve, reject) => {
      const request = open()
      request.on('error', reject)
      request.on('response', (response) => {
        let text = ''
        response.on('data', (chunk) => (text += chunk))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, json: JSON.parse(text) }))
      })
      request.end(body)
    })
  return { send, open, sockets }
}

const one = (name: string) => ({
  query: `mutation ($file: Upload!) { ${name}(file: $file) }`,
  variables: { file: null },
})
const intoFile = { 0: ['variables.file'] }
const start = (name: string): string => field('operations', one(name)) + field('map', intoFile)
const bothOf = (reverse: boolean): string =>
  field('operations', {
    query: `mutation ($a: Upload!, $b: Upload!) { both(first: $a, second: $b, reverse: ${reverse}) }`,
    variables: { a: null, b: null },
  }) + field('map', { 0: ['variables.a'], 1: ['variables.b'] })

describe('a multipart request', () => {
  it('gives a file whose name, type and bytes are the part', async () => {
    const { send } = await serve()
    expect((await send(start('read') + file('0', 'böses') + END)).json).toEqual({ data: { read: 'böses' } })
    expect((await send(start('name') + file('0', 'x') + END)).json).toEqual({
      data: { name: '0.css text/css [object File]' },
    })
  })

  it('begins its operation before the file is whole, and what is sent is read as it comes', async () => {
    const { open } = await serve()
    const request = open()
    const answer = new Promise<string>((resolve) =>
      request.on('response', (response) => response.on('data', (chunk) => resolve(String(chunk)))),
    )
    // The name is known, and the answer there, while the file has not ended.
    request.write(start('name') + head('0', 'big.css') + 'begin')
    expect(JSON.parse(await answer)).toEqual({ data: { name: 'big.css text/css [object File]' } })
    request.destroy()
  })

  it.each([
    [false, 10],
    [true, 10],
    [false, 400_000],
  ])('two files, reversed %s, of %i bytes', async (reverse, size) => {
    const { send } = await serve()
    const body = bothOf(reverse) + file('0', 'a'.repeat(size)) + file('1', 'b'.repeat(size + 1)) + END
    const sizes = reverse ? [size + 1, size] : [size, size + 1]
    expect((await send(body)).json).toEqual({ data: { both: sizes.join(' ') } })
  })

  it('a large file that is read after a later one is told, and holds nothing up for ever', async () => {
    const { send } = await serve({ maxIdleMs: 50 })
    const body = bothOf(true) + file('0', 'a'.repeat(2_000_000)) + file('1', 'b') + END
    const { json } = await send(body)
    expect(json.errors[0]).toMatchObject({
      message: expect.stringContaining('Send the files in the order in which resolvers read them'),
      extensions: { code: 'BAD_USER_INPUT' },
    })
  })

  it('files that are read at once come one after the other', async () => {
    const { send } = await serve()
    const operations = {
      query: 'mutation ($files: [Upload!]!) { together(files: $files) }',
      variables: { files: [null, null, null] },
    }
    const map = { 2: ['variables.files.2'], 0: ['variables.files.0'], 1: ['variables.files.1'] }
    const files = ['0', '1', '2'].map((key) => file(key, key.repeat(300_000))).join('')
    const { json } = await send(field('operations', operations) + field('map', map) + files + END)
    expect(json.data.together).toEqual(['0', '1', '2'].map((key) => key.repeat(300_000)))
  })

  it('whose file nobody reads is answered, and its connection goes on', async () => {
    const { send } = await serve()
    for (const size of [1, 3_000_000])
      expect((await send(start('none') + file('0', 'x'.repeat(size)) + END)).json).toEqual({
        data: { none: 'not read' },
      })
  })

  it('without files is its operations', async () => {
    const { send } = await serve()
    expect((await send(field('operations', { query: '{ hello }' }) + END)).json).toEqual({
      data: { hello: 'world' },
    })
  })
})

describe('what is refused', () => {
  const text = (name: string, value: string): string => field(name, value)
  it.each([
    [
      'a file before the map',
      field('operations', one('read')) + file('0', 'x') + field('map', intoFile),
      400,
      'a file precedes "map"',
    ],
    [
      'the map before the operations',
      field('map', intoFile) + field('operations', one('read')),
      400,
      '"map" precedes "operations"',
    ],
    ['no operations', file('0', 'x'), 400, 'a file precedes "map"'],
    ['nothing', '', 400, 'it has no part named "operations"'],
    ['operations that are no JSON', text('operations', '{'), 400, '"operations" is not valid JSON'],
    ['operations 300 levels deep', text('operations', `${'['.repeat(9_000)}`), 400, '20,000 levels'],
    ['operations that are no object', text('operations', '1'), 400, '"operations" is not a JSON object'],
    [
      'a map that is no JSON',
      field('operations', one('read')) + text('map', '{'),
      400,
      '"map" is not valid JSON',
    ],
    ['a map of no lists', field('operations', one('read')) + field('map', { 0: 'a' }), 400, 'lists of paths'],
    [
      'a path to nowhere',
      field('operations', one('read')) + field('map', { 0: ['variables.nobody'] }),
      400,
      'must point to a null',
    ],
    [
      'a path of 20,000 steps',
      field('operations', one('read')) + field('map', { 0: [`variables.file${'.a'.repeat(20_000)}`] }),
      400,
      'must point to a null',
    ],
    [
      'a path to a prototype',
      field('operations', one('read')) + field('map', { 0: ['__proto__.x'] }),
      400,
      'must point to a null',
    ],
    [
      'more places than files are allowed',
      field('operations', one('read')) +
        field('map', { 0: Array.from({ length: 99 }, () => 'variables.file') }),
      400,
      'more than 10 files or paths',
    ],
    [
      'more files than are allowed, each without a place',
      field('operations', one('read')) +
        field('map', Object.fromEntries(Array.from({ length: 11 }, (_, at) => [at, []]))),
      400,
      'more than 10 files or paths',
    ],
    [
      'operations that are too long',
      field('operations', { query: 'x'.repeat(1_000_001) }),
      413,
      'larger than 1000000 bytes',
    ],
  ])('%s', async (_, body, status, message) => {
    const { send } = await serve()
    const answer = await send(body + END)
    expect(answer.status).toBe(status)
    expect(answer.json.errors[0].message).toContain(message)
  })

  it('a file with a byte too many; one with as many as allowed is read', async () => {
    const { send } = await serve({ maxFileBytes: 100_000 })
    const sent = (size: number) => send(start('read') + file('0', 'x'.repeat(size)) + END)
    expect((await sent(100_000)).json.data.read).toHaveLength(100_000)
    expect((await sent(100_001)).json.errors[0]).toMatchObject({
      message: expect.stringContaining('larger than 100000 bytes'),
      extensions: { code: 'REQUEST_ENTITY_TOO_LARGE' },
    })
  })

  it('a file that never comes, and one that is read twice', async () => {
    const { send } = await serve()
    expect((await send(start('read') + END)).json.errors[0]).toMatchObject({
      message: expect.stringContaining('does not contain a file'),
      extensions: { code: 'BAD_USER_INPUT' },
    })
    const twice = {
      query: 'mutation ($file: Upload!) { a: read(file: $file) b: read(file: $file) }',
      variables: { file: null },
    }
    const { json } = await send(field('operations', twice) + field('map', intoFile) + file('0', 'x') + END)
    expect(json.data).toEqual({ a: 'x', b: null })
    expect(json.errors[0].message).toContain('read twice')
  })

  it.each([
    ['a part without a name', '', 'no name'],
    ['a file without a name', '; filename="a"', 'no name'],
  ])('%s, large or cut; the connection goes on', async (_, rest, message) => {
    const { send } = await serve()
    for (const size of [1, 600_000])
      for (const end of [`\r\n${END}`, '']) {
        const nameless = `--${BOUNDARY}\r\ncontent-disposition: form-data${rest}\r\n\r\n${'x'.repeat(size)}${end}`
        const { status, json } = await send(field('operations', { query: '{ hello }' }) + nameless)
        expect(status).toBe(400)
        expect(json.errors[0].message).toMatch(end === '' ? /is invalid/ : message)
      }
    expect((await send(field('operations', { query: '{ hello }' }) + END)).status).toBe(200)
  })

  it('what breaks off inside of a file that goes by', async () => {
    const { send } = await serve()
    for (const size of [1, 600_000])
      expect((await send(start('none') + head('another', 'a') + 'x'.repeat(size))).status).toBe(400)
  })

  it('a part without a head in a body that comes as one piece', async () => {
    const yoga = createYoga({
      schema: createSchema({ typeDefs, resolvers }),
      plugins: [useUploads()],
      logging: false,
    })
    const body = `${field('operations', { query: '{ hello }' })}--${BOUNDARY}\r\n\r\n${'x'.repeat(600_000)}\r\n${END}`
    const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
    const response = await yoga.fetch('http://x/graphql', { method: 'POST', headers, body })
    expect(await response.json()).toEqual({ data: { hello: 'world' } })
  })

  it('a body that breaks off inside of its file: who reads it is told', async () => {
    const { send } = await serve()
    const { json } = await send(start('read') + head('0', 'a') + 'half')
    expect(json.errors[0].message).toMatch(/is invalid|left/)
  })

  it('a client that leaves halfway ends the reading', async () => {
    let outcome: unknown
    let isReading = false
    const yoga = createYoga({
      schema: createSchema({
        typeDefs,
        resolvers: {
          Mutation: {
            read: (_: unknown, { file }: { file: UploadedFile }) => {
              const reading = file.text()
              isReading = true
              reading.catch((error: unknown) => (outcome = error))
              return reading
            },
          },
        },
      }),
      plugins: [useUploads()],
      logging: false,
    })
    const server = createServer(createNodeHandler(yoga))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    cleanup.use({
      [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
    })
    const request = httpRequest({
      port: (server.address() as AddressInfo).port,
      method: 'POST',
      path: '/graphql',
      headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    })
    request.on('error', () => {})
    request.write(start('read') + head('0', 'a') + 'x'.repeat(500_000))
    await waitUntil(() => isReading)
    request.destroy()
    await waitUntil(() => outcome !== undefined)
    expect(outcome).toMatchObject({ name: 'AbortError' })
  })
})
