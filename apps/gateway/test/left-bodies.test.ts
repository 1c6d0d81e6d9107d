import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createLogger } from '../src/logging/logger.ts'
import { OWN_SCHEMA, startGateway } from './support/gateway.ts'

const TYPES = [
  'application/json',
  'application/graphql',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=b',
  'text/plain',
]
const LENGTHS = [
  ['Content-Length: 100', '{"query":'],
  ['Transfer-Encoding: chunked', '9\r\n{"query":\r\n'],
] as const

describe('a client that leaves within its body is no error of the server', () => {
  it.each([{}, { graphql: { uploads: {} } }])('with %j', async (options) => {
    const lines: string[] = []
    const logger = await createLogger({ level: 'error', destination: { write: (line) => lines.push(line) } })
    const { server } = await startGateway({ preset: 'production', ...OWN_SCHEMA, ...options }, { logger })
    const { hostname, port } = new URL(server.url)
    for (const type of TYPES) {
      for (const [length, body] of LENGTHS) {
        for (const leave of ['destroy', 'resetAndDestroy'] as const) {
          const socket = connect(Number(port), hostname).on('error', () => {})
          await once(socket, 'connect')
          socket.write(
            `POST /graphql HTTP/1.1\r\nHost: x\r\nX-Requested-With: x\r\nContent-Type: ${type}\r\n${length}\r\n\r\n${body}`,
          )
          await sleep(30)
          socket[leave]()
        }
      }
    }
    await sleep(200)
    expect(lines).toEqual([])
    expect((await fetch(`${server.url}/health/live`)).ok).toBe(true)
  })
})
