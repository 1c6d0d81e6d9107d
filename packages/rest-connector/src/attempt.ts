import { decodeBody, parseBody, single } from './decode.ts'
import type { Transport, WireRequest } from './transport.ts'

/** An upstream's answer, decoded and parsed. */
export interface RestResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Parsed JSON, text as a string, or null when there is no body. */
  readonly body: unknown
}

/** An answer whose status is not a success. */
export class BadStatus extends Error {
  override readonly name = 'BadStatus'
  readonly status: number
  readonly headers: RestResponse['headers']
  constructor(status: number, headers: RestResponse['headers']) {
    super(`the upstream answered with status ${status}`)
    this.status = status
    this.headers = headers
  }
}

/** Sends one request and reads its answer; anything but a usable success rejects. */
export async function attempt(
  transport: Transport,
  request: WireRequest,
  maxResponseBytes: number,
  signal: AbortSignal,
): Promise<RestResponse> {
  const answer = await transport.send(request, signal)
  const { status, headers } = answer
  if (status < 200 || status > 299) throw new BadStatus(status, headers)
  const body = await decodeBody(answer, maxResponseBytes)
  return { status, headers, body: parseBody(status, single(headers['content-type']), body) }
}
