import { createFairTurns } from '@vinyasa/live-query/ws'
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import { createConnectionGate } from '../src/connections/connection-gate.ts'

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
  return { ask, counts: () => ({ begun, ended, inFlight: [...gate.inFlight].length }) }
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
