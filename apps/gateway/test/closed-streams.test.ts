import { EventEmitter } from 'node:events'
import { processLedger } from '@vinyasa/core'
import { expect, it } from 'vitest'
import { createLiveStreams } from '../src/http/live-streams.ts'

/** Tells the plugin that a response of an endless query goes out. */
function respond(res: EventEmitter & { readonly closed: boolean }): void {
  const { plugin } = createLiveStreams({ isEndless: () => true })
  const serverContext = { res: Object.assign(res, { headersSent: true }), params: {} }
  void plugin.onResponse?.({ response: new Response(), serverContext } as never)
}

it('a stream is counted until it is closed, and one that was closed before is not', () => {
  const before = processLedger().bytes
  const open = Object.assign(new EventEmitter(), { closed: false })
  respond(open)
  expect(processLedger().bytes).toBeGreaterThan(before)
  open.emit('close')
  expect(processLedger().bytes).toBe(before)
  respond(Object.assign(new EventEmitter(), { closed: true }))
  expect(processLedger().bytes).toBe(before)
})
