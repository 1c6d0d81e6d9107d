import type { Clock, Ending, HeldReply, Turns } from '@vinyasa/base'
import { decodeBody, isEncoded, parseBody, type AnswerKind } from './decode.ts'
import { follow, isRedirect } from './redirect.ts'
import { single } from './header-values.ts'
import type { Transport, WireRequest, WireResponse } from './transport.ts'

/** An upstream's answer, decoded and parsed. */
export interface RestResponse extends Pick<WireResponse, 'status' | 'headers'> {
  /** Parsed JSON, text as a string, or null when there is no body. */
  readonly body: unknown
}

/** An answer whose status is not a success. */
export class BadStatus extends Error {
  override readonly name = 'BadStatus'
  readonly status: number
  readonly headers: RestResponse['headers']
  /** The beginning of the decoded body, for those who may see it. */
  readonly excerpt: string
  constructor(status: number, headers: RestResponse['headers'], excerpt: string) {
    super(`the upstream responded with status ${status}`)
    this.status = status
    this.headers = headers
    this.excerpt = excerpt
  }
}

export interface AttemptSettings {
  readonly transport: Transport
  readonly clock: Clock
  readonly origin: string
  readonly maxResponseBytes: number
  readonly maxResponseItems: number
  readonly turns: Turns
}

/** What is of one call alone. */
export interface AttemptCall {
  /** Sees every body as text; undefined: nobody looks. */
  readonly onBody: ((status: number, contentType: string | undefined, body: string) => void) | undefined
  readonly answer: AnswerKind | undefined
  /** The request asks whether something kept still holds: a 304 is an answer, without a body. */
  readonly isConditional: boolean
  /** See `Transport`. */
  readonly caller: unknown
  /** Called when the upstream led elsewhere: it may have done its work before it did. */
  readonly onRedirect: () => void
}

/** Sends one request and reads its answer; anything but a usable success rejects. */
export async function attempt(
  request: WireRequest,
  ending: Ending,
  settings: AttemptSettings,
  { onBody, onRedirect, isConditional, answer: kind, caller }: AttemptCall,
): Promise<RestResponse> {
  const { transport, origin, maxResponseBytes, maxResponseItems, turns } = settings
  let answer: WireResponse | undefined
  let held: HeldReply | undefined
  try {
    answer = await transport.send(request, ending, caller)
    if (isRedirect(answer.status))
      answer = await follow(answer, request, { transport, origin, ending, caller }, onRedirect)
    const { status, headers } = answer
    const contentType = single(headers['content-type'])
    if (status === 304 && isConditional) return { status, headers, body: null }
    const isSuccess = status >= 200 && status <= 299
    let { body } = answer
    if (isEncoded(answer)) {
      const decoded = await decodeBody(answer, maxResponseBytes, caller, ending).catch((error: unknown) => {
        // The status of an error page matters more than how it was encoded.
        if (isSuccess) throw error
        return { bytes: Buffer.alloc(0), held: undefined }
      })
      body = decoded.bytes
      held = decoded.held
    }
    onBody?.(status, contentType, body.toString('utf8'))
    if (!isSuccess) throw new BadStatus(status, headers, body.toString('utf8', 0, 4096))
    const parsed = parseBody(status, contentType, body, { maxItems: maxResponseItems, turns }, kind)
    return { status, headers, body: parsed instanceof Promise ? await parsed : parsed }
  } finally {
    held?.leave()
    answer?.release?.()
  }
}
