import type { Readable } from 'node:stream'
import type { FetchAPI } from 'graphql-yoga'
import { type Clock, type JsonText, systemClock } from '../index.ts'

const HEARTBEAT_MS = 5_000

/** One part of a response that is sent in several parts. */
export interface StreamPart {
  readonly text: JsonText
  readonly isLast: boolean
  /** Value that `text` was serialized from. */
  readonly part?: unknown
}

/** Response in several parts, sent with status 200. */
export interface PartStream {
  readonly headers: Readonly<Record<string, string>>
  /** Returns the next part. The promise never rejects. */
  next(): Promise<StreamPart>
  /** Stops the stream. It is called after the last part and when the client disconnects, possibly more than once. */
  leave(): void
}

/** Text around the results of a stream. */
export interface StreamFormat {
  readonly headers: Readonly<Record<string, string>> & { readonly 'Content-Type': string }
  readonly open: string
  readonly before: string
  readonly after: string
  /** Follows the last result instead of `after`. */
  readonly last: string
  /** Sent if the results end and none of them was marked as the last one. */
  readonly end: string
  /** Sent before `end` if the results fail. */
  readonly failed: string
  /**
   * Message that clients ignore. Without one, `open` is sent with the first result, and a heartbeat sends `before` early,
   * and then spaces. Spaces before JSON have no meaning.
   */
  readonly heartbeat: string | undefined
}

/** Headers of every stream: caches and proxies forward it as it is written. */
export const STREAM_HEADERS = { 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no', Vary: 'Accept' }

/** Result as JSON. */
export interface StreamResult {
  readonly json: JsonText
  readonly isLast: boolean
  readonly part?: unknown
}

/** Source of a stream. */
export interface StreamResults {
  /** Returns `undefined` after the last result. */
  next(): Promise<StreamResult | undefined>
  /** Called once, unless `next` has returned `undefined` or failed. */
  leave(): void
}

/**
 * Creates the parts of a stream of results, with a heartbeat every 5 s. Clients that have not read the previous parts get
 * no heartbeat.
 */
export function createPartStream(
  format: StreamFormat,
  results: StreamResults,
  clock: Pick<Clock, 'setTimeout' | 'clearTimeout'> = systemClock,
): PartStream {
  const { headers, open, before, after, last, end, failed, heartbeat } = format
  const ready: StreamPart[] = []
  let head = before
  let waiting: ((part: StreamPart) => void) | undefined
  let isTaking = false
  let isOver = false
  let timer: unknown

  function give(text: JsonText, isLast = false, part?: unknown): void {
    const given = { text, isLast, part }
    const resolve = waiting
    waiting = undefined
    if (resolve) resolve(given)
    else ready.push(given)
  }

  function beat(): void {
    timer = clock.setTimeout(beat, HEARTBEAT_MS)
    if (!waiting) return
    if (heartbeat !== undefined) return give(heartbeat)
    give(head || ' ')
    head = ''
  }

  function write({ json, isLast, part }: StreamResult): void {
    isTaking = false
    const tail = isLast ? last : after
    if (isLast) clock.clearTimeout(timer)
    if (typeof json === 'string') give(`${head}${json}${tail}`, isLast, part)
    else {
      if (head) give(head)
      give(json)
      give(tail, isLast, part)
    }
    head = before
  }

  function finish(text: string): void {
    isOver = true
    clock.clearTimeout(timer)
    give(text, true)
  }

  if (heartbeat === undefined) head = open + before
  else give(open)

  return {
    headers,
    next() {
      const given = ready.shift()
      if (given) return Promise.resolve(given)
      // A response that is never read is not stopped either, so it must not start a timer.
      timer ??= clock.setTimeout(beat, HEARTBEAT_MS)
      return new Promise((resolve) => {
        waiting = resolve
        if (isTaking) return
        isTaking = true
        results.next().then(
          (result) => (result ? write(result) : finish(end)),
          () => finish(failed + end),
        )
      })
    },
    leave() {
      if (isOver) return
      isOver = true
      clock.clearTimeout(timer)
      results.leave()
    },
  }
}

type BodySource = Pick<PartStream, 'next' | 'leave'>

/** Creates a response with status 200 that sends a stream. */
export function createStreamResponse(stream: PartStream, fetchAPI: FetchAPI): Response {
  // The headers are copied because Yoga's class of headers writes into the given object.
  return new fetchAPI.Response(createStreamBody(stream, fetchAPI), { headers: { ...stream.headers } })
}

/**
 * Creates the body of a response: each part is one chunk, and the next part is requested when the chunk is read. The body
 * is a stream of Node if responses are those of `@whatwg-node/fetch`, and a web stream if they are the platform's.
 */
function createStreamBody(source: BodySource, fetchAPI: FetchAPI): BodyInit {
  const isNative = Object.is(fetchAPI.Response, globalThis.Response)
  // Not imported, because this file loads on platforms without Node's modules.
  const node = isNative ? undefined : globalThis.process?.getBuiltinModule('node:stream')
  if (!node) return createWebBody(source, fetchAPI)
  return createNodeBody(source, node.Readable) as unknown as BodyInit
}

export function createWebBody({ next, leave }: BodySource, fetchAPI: FetchAPI): ReadableStream<Uint8Array> {
  const encoder = new fetchAPI.TextEncoder()
  return new fetchAPI.ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { text, isLast } = await next()
        try {
          controller.enqueue(typeof text === 'string' ? encoder.encode(text) : text)
          if (isLast) controller.close()
        } catch {
          // The client has disconnected.
          return leave()
        }
        if (isLast) leave()
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  )
}

/**
 * Creates a stream of Node. `pipe` into a Node response, which servers use, writes each part in one write, and the last
 * part together with the end of the response.
 */
export function createNodeBody({ next, leave }: BodySource, NodeReadable: typeof Readable): Readable {
  async function take(give: (part: StreamPart) => void): Promise<void> {
    const part = await next()
    if (body.destroyed) return
    give(part)
    if (part.isLast) leave()
  }

  const body = new NodeReadable({
    // Without read-ahead: parts stay apart, and the next part is requested when this one is read.
    highWaterMark: 0,
    read: () =>
      void take(({ text, isLast }) => {
        body.push(text)
        if (isLast) body.push(null)
      }),
    destroy(error, done) {
      leave()
      done(error)
    },
  })
  const pipeAsStream = body.pipe.bind(body)
  const pipe = <Destination extends NodeJS.WritableStream>(
    destination: Destination,
    options?: { readonly end?: boolean },
  ): Destination => {
    // Hosts that wait for the piped stream, such as H3, need a stream that flows and closes.
    const isFollowed = destination.listenerCount('pipe') > 0
    if (isFollowed || body.readableDidRead || body.readableFlowing !== null || options?.end === false) {
      return pipeAsStream(destination, options)
    }
    const takeNext = (): void => void take(write)
    const write = ({ text, isLast }: StreamPart): void => {
      if (isLast) destination.end(text)
      else if (destination.write(text)) takeNext()
      else destination.once('drain', takeNext)
    }
    takeNext()
    return destination
  }
  // Not the literal itself: V8 moves a literal that is assigned to a property to the old generation.
  return Object.assign(body, { pipe })
}
