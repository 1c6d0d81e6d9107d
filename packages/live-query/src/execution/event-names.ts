import { after } from '@vinyasa/base'
import type { Plugin } from 'graphql-yoga'

type ResultPayload = Parameters<NonNullable<Plugin['onResultProcess']>>[0]
type ResultProcessor = NonNullable<ResultPayload['resultProcessor']>
type Chunk = Uint8Array<ArrayBuffer>

/**
 * Whether an `EventSource` asks, which takes nothing but an event stream and cannot POST: clients of graphql-sse, which need
 * the names of events, do.
 */
export function isEventSource({ method, headers }: Request): boolean {
  return method === 'GET' && headers.get('accept')?.trim().toLowerCase() === 'text/event-stream'
}

/** Writes results as the processor does, without the name `next`: `EventSource.onmessage` hears of no event that has one. */
export function withoutEventNames(process: ResultProcessor): ResultProcessor {
  return (result, fetchAPI) =>
    after(process(result, fetchAPI, 'text/event-stream'), (response) => {
      const { body, status, statusText, headers } = response
      if (!body || headers.get('content-type')?.startsWith('text/event-stream') !== true) return response
      const nameless = new fetchAPI.ReadableStream(namelessSource(body.getReader()))
      return new fetchAPI.Response(nameless, { status, statusText, headers })
    })
}

function namelessSource(reader: ReadableStreamDefaultReader<Chunk>): UnderlyingDefaultSource<Chunk> {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let rest = ''
  return {
    async pull(controller) {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return controller.close()
        const text = rest + decoder.decode(value, { stream: true })
        const end = text.lastIndexOf('\n') + 1
        rest = text.slice(end)
        const lines = text.slice(0, end).replaceAll(/^event: ?next\n/gm, '')
        if (lines !== '') return controller.enqueue(encoder.encode(lines))
      }
    },
    cancel: (reason) => reader.cancel(reason),
  }
}
