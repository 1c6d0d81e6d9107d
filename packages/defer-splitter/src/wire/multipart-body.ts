import type { Readable } from 'node:stream'
import type { PartStream, StreamPart } from '@vinyasa/core/pipeline'
import type { FetchAPI } from 'graphql-yoga'

type BodySource = Pick<PartStream, 'next' | 'leave'>

/**
 * The body of a multipart response: each part is one chunk, and the next is asked for when it is taken. A stream of Node
 * where responses are `@whatwg-node/fetch`'s, of the web where they are the platform's own.
 */
export function createMultipartBody(source: BodySource, fetchAPI: FetchAPI): BodyInit {
  const isNative = Object.is(fetchAPI.Response, globalThis.Response)
  // Asked for, not imported: this file loads on platforms without Node's modules.
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
          controller.enqueue(encoder.encode(text))
          if (isLast) controller.close()
        } catch {
          // Nobody reads it any more.
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
 * Piped into a Node response, which is what servers do with it, each part goes out as one write and the last one
 * together with the end of the response. Read in any other way it is an ordinary stream.
 */
export function createNodeBody({ next, leave }: BodySource, NodeReadable: typeof Readable): Readable {
  async function take(give: (part: StreamPart) => void): Promise<void> {
    const part = await next()
    if (body.destroyed) return
    give(part)
    if (part.isLast) leave()
  }

  const body = new NodeReadable({
    // Nothing is read ahead: parts stay apart, and the next is asked for when this one is taken.
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
    // Whoever waits for what is piped, as H3 does, follows the stream: it has to be one that flows and closes.
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
  // Not the literal itself: V8 makes one that is assigned to a property old at once.
  return Object.assign(body, { pipe })
}
