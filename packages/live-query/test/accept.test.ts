import { expect, it } from 'vitest'
import { wantsStream } from '../src/execution/stream-results.ts'

it.each([
  ['text/event-stream', true],
  ['Text/Event-Stream', true],
  ['text/event-stream, application/json', true],
  ['application/graphql-response+json, application/json, text/event-stream, multipart/mixed', true],
  ['text/event-stream;q=0.5, application/json;q=0.4', true],
  ['text/event-stream;q=0', false],
  ['text/event-stream;q=0, application/json', false],
  ['text/event-stream;q=0.5, application/json', false],
  ['application/json', false],
  ['*/*', false],
  ['text/*', false],
  [null, false],
])('%s: %s', (accept, wants) => expect(wantsStream(accept)).toBe(wants))

const PARTS = 'multipart/mixed;subscriptionSpec=1.0'

it.each([
  [PARTS, true],
  [`multipart/mixed;boundary="graphql";subscriptionspec=1.0, application/json`, true],
  [`${PARTS};q=0.5, application/json`, false],
  [`${PARTS};q=0.5, text/event-stream;q=0.4, application/json;q=0.5`, true],
  ['multipart/mixed', false],
  ['multipart/mixed;deferSpec=20220824', false],
  ['multipart/mixed;subscriptionSpec=2.0', false],
])('%s: %s', (accept, wants) => expect(wantsStream(accept)).toBe(wants))
