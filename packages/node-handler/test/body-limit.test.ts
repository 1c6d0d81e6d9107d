import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { bothAnswer, graphql, openDoors } from './doors.ts'

const body = graphql('{ hello }')
const long = graphql(`{ hello } # ${'x'.repeat(1000)}`)

describe("Yoga's maxRequestBodySize is honoured", () => {
  it.each([
    ['a body of exactly the limit', body, undefined, 200],
    ['one byte more', `${body} `, undefined, 413],
    ['a chunked body of exactly the limit', body, 7, 200],
    ['a chunked body, one byte more', `${body} `, 7, 413],
    ['a chunked body, more in one chunk', long, 5000, 413],
  ])('%s', async (_sentence, sent, chunked, status) => {
    const doors = await openDoors(() => ({ maxRequestBodySize: body.length }))
    const { yoga, thin } = await bothAnswer(doors, { body: sent, ...(chunked ? { chunked } : {}) })
    expect(thin).toBe(yoga)
    expect(thin).toContain(`HTTP/1.1 ${status} `)
  })

  it('also where a plugin has looked at the stream', async () => {
    const doors = await openDoors(() => ({
      maxRequestBodySize: body.length,
      plugins: [{ onRequest: ({ request }: { request: Request }) => void request.body }],
    }))
    for (const sent of [body, long]) {
      const { yoga, thin } = await bothAnswer(doors, { body: sent, chunked: 100 })
      expect(thin).toBe(yoga)
    }
  })
})

describe('the limit', () => {
  it('is decided by the Content-Length before any of the body has arrived', async () => {
    const doors = await openDoors(() => ({ maxRequestBodySize: 100 }))
    const { hostname, port } = new URL(doors.thin)
    const socket = connect(Number(port), hostname)
    socket.write(
      'POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 101\r\n\r\n',
    )
    const answer = await new Promise<Buffer>((resolve) => socket.once('data', resolve))
    socket.destroy()
    expect(answer.toString()).toContain('HTTP/1.1 413 ')
  })

  it('is decided before the rest of the body has arrived', async () => {
    const doors = await openDoors(() => ({ maxRequestBodySize: 100 }))
    const { hostname, port } = new URL(doors.thin)
    const socket = connect(Number(port), hostname)
    socket.write(
      'POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n',
    )
    socket.write(`${(200).toString(16)}\r\n${' '.repeat(200)}\r\n`)
    const answer = await new Promise<Buffer>((resolve) => socket.once('data', resolve))
    socket.destroy()
    expect(answer.toString()).toContain('HTTP/1.1 413 ')
  })
})
