import { GraphQLError } from 'graphql'

/** Bytes that are read as they are sent. */
export interface StreamedBody {
  /** Bytes in all; undefined: nobody knows before the end. */
  readonly size: number | undefined
  /** Whether `open` may be called again, for another attempt. */
  readonly isRepeatable: boolean
  open(): AsyncIterable<Uint8Array>
}

/** A body could not be read while it was sent, as when the client that uploads it leaves: no fault of the upstream's. */
export class SentBodyFailed extends Error {
  override readonly name = 'SentBodyFailed'
}

/** The bytes of a body, to be sent. @throws SentBodyFailed where they cannot be read; an error for clients as it is */
export async function* bytesOf(body: StreamedBody): AsyncIterable<Uint8Array> {
  try {
    yield* body.open()
  } catch (error) {
    throw error instanceof GraphQLError
      ? error
      : new SentBodyFailed('the request body cannot be read', { cause: error })
  }
}

export type WireBody = string | StreamedBody

export interface RenderedBody {
  readonly contentType: string
  readonly body: WireBody
}

export function isStreamed(body: WireBody | undefined): body is StreamedBody {
  return typeof body === 'object'
}
