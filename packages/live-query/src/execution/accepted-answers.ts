import { jsonQuality, keyedByHeader, type MediaRange, parseAccept } from '@vinyasa/core'

/** The quality values of a client for each kind of response. 0 means not accepted. `*` does not request a stream. */
export interface AcceptedAnswers {
  /** The quality of JSON. */
  readonly whole: number
  /** The quality of `text/event-stream`. */
  readonly events: number
  /** The quality of `multipart/mixed;subscriptionSpec=1.0`. */
  readonly multipart: number
}

const NO_STREAMS: AcceptedAnswers = { whole: 1, events: 0, multipart: 0 }

export function acceptedAnswers(accept: string | null): AcceptedAnswers {
  return accept === null ? NO_STREAMS : answersOf(accept)
}

const answersOf = keyedByHeader(readAccept)

function readAccept(accept: string): AcceptedAnswers {
  if (!/event-stream|subscriptionSpec/i.test(accept)) return NO_STREAMS
  const accepted = parseAccept(accept)
  const qualityOf = (wanted: (range: MediaRange) => boolean): number => accepted.find(wanted)?.quality ?? 0
  return {
    whole: jsonQuality(accepted),
    events: qualityOf(({ type }) => type === 'text/event-stream'),
    multipart: qualityOf(
      ({ type, parameters }) => type === 'multipart/mixed' && parameters.get('subscriptionspec') === '1.0',
    ),
  }
}

/** Returns whether a live query can be streamed: the client must prefer a stream at least as much as JSON. */
export function wantsStream(accept: string | null): boolean {
  const { whole, events, multipart } = acceptedAnswers(accept)
  const most = Math.max(events, multipart)
  return most > 0 && most >= whole
}
