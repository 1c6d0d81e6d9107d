import { jsonQuality, type MediaRange, parseAccept } from '@vinyasa/core'

/** How gladly a client takes each kind of answer; 0: not at all. `*` is no wish for a stream. */
export interface AcceptedAnswers {
  /** JSON. */
  readonly whole: number
  /** `text/event-stream`. */
  readonly events: number
  /** `multipart/mixed;subscriptionSpec=1.0`. */
  readonly multipart: number
}

const NO_STREAMS: AcceptedAnswers = { whole: 1, events: 0, multipart: 0 }

export function acceptedAnswers(accept: string | null): AcceptedAnswers {
  if (accept === null || !/event-stream|subscriptionSpec/i.test(accept)) return NO_STREAMS
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

/** Live queries stream over HTTP only to a client that takes a stream no less gladly than a whole answer. */
export function wantsStream(accept: string | null): boolean {
  const { whole, events, multipart } = acceptedAnswers(accept)
  const most = Math.max(events, multipart)
  return most > 0 && most >= whole
}
