import { createFairTurns } from '@vinyasa/live-query/ws'
import { EventEmitter } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { createDisposables, waitUntil } from '@vinyasa/test-kit'
import { afterAll, expect, it } from 'vitest'
import { createConnectionGate } from '../src/connections/connection-gate.ts'

const disposables = createDisposables(afterAll)

function open() {
  let begun = 0
  let ended = 0
  const gate = createConnectionGate({
    isProbe: () => false,
    maxUnanswered: 32,
    maxInFlight: 10,
    addressShare: 1,
    addressOf: () => '',
    turns: createFairTurns(),
    serve() {
      begun++
      return { end: () => void ended++ }
    },
  })
  const socket = new EventEmitter()
  const ask = (): EventEmitter => {
    const response = new EventEmitter()
    gate.admit({ socket } as unknown as IncomingMessage, response as unknown as ServerResponse)
    return response
  }
  return { gate, ask, counts: () => ({ begun, ended, inFlight: [...gate.inFlight].length }) }
}

it('a request is over once, however often its response says that it has closed', () => {
  const { ask, counts } = open()
  const response = ask()
  expect(counts()).toEqual({ begun: 1, ended: 0, inFlight: 1 })
  response.emit('close')
  response.emit('close')
  expect(counts()).toEqual({ begun: 1, ended: 1, inFlight: 0 })
})

it('each request of a connection ends with its own response', () => {
  const { ask, counts } = open()
  const responses = [ask(), ask()]
  expect(counts()).toEqual({ begun: 2, ended: 0, inFlight: 2 })
  responses[0]?.emit('close')
  expect(counts()).toEqual({ begun: 2, ended: 1, inFlight: 1 })
  responses[1]?.emit('close')
  expect(counts()).toEqual({ begun: 2, ended: 2, inFlight: 0 })
})

it('the requests of a connection that is cut end without stack traces, and later errors have one', async () => {
  const { gate } = open()
  const errors: Error[] = []
  const server = createServer((request, response) => {
    request.on('error', (error) => void errors.push(error))
    gate.admit(request, response)
  })
  disposables.use({ close: async () => void server.close() })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { readonly port: number }
  const client = connect(port, '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20))
  await new Promise((resolve) => server.once('request', resolve))
  client.resetAndDestroy()
  await waitUntil(() => errors.length === 20)
  expect(errors.filter(({ stack }) => stack?.includes('\n    at '))).toEqual([])
  expect(new Error('later').stack).toContain('\n    at ')
})
