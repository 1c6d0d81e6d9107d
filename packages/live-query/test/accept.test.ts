import { expect, it } from 'vitest'
import { wantsEventStream } from '../src/http.ts'

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
])('%s: %s', (accept, wants) => expect(wantsEventStream(accept)).toBe(wants))
