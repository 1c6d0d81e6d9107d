import type { Clock, Ending, HeldReply, Turns } from '@vinyasa/core'
import { decodeBody, isEncoded, parseBody, type AnswerKind } from './decode.ts'
import { single } from './header-values.ts'
import type { Transport, WireRequest, WireResponse } from './transport.ts'
import { RedirectRefused } from './failures.ts'
import { isStreamed } from '../bodies/wire-body.ts'

const MAX_REDIRECTS = 5
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

function isRedirect(status: number): boolean {
  return REDIRECTS.has(status)
}

/**
 * Follows redirects on the same origin. One that leads elsewhere is refused: credentials, interceptors' headers and bodies are
 * meant for this origin alone.
 */
async function follow(
  first: WireResponse,
  sent: WireRequest,
  ending: Ending,
  { transport, origin }: AttemptSettings,
  { caller, onRedirect }: AttemptCall,
): Promise<WireResponse> {
  let [response, request] = [first, sent]
  for (let hops = 0; isRedirect(response.status); hops++) {
    const location = single(response.headers['location'])
    if (location === undefined) return response
    response.release?.()
    onRedirect()
    if (hops === MAX_REDIRECTS) throw new RedirectRefused(`more than ${MAX_REDIRECTS} redirects`)
    request = redirected(request, response.status, location, origin)
    response = await transport.send(request, ending, caller)
  }
  return response
}

function redirected(request: WireRequest, status: number, location: string, ownOrigin: string): WireRequest {
  const origin = request.origin ?? ownOrigin
  if (!URL.canParse(location, origin + request.path))
    throw new RedirectRefused('its Location header is not a valid URL')
  const target = new URL(location, origin + request.path)
  if (target.origin !== origin) throw new RedirectRefused('its target has a different origin')
  const path = target.pathname + target.search
  // Fetch's rule (HTTP-redirect fetch, step 12): after these the request is repeated as a GET.
  const becomesGet =
    (status === 303 && request.method !== 'GET') ||
    ((status === 301 || status === 302) && request.method === 'POST')
  if (!becomesGet) {
    if (isStreamed(request.body) && !request.body.isRepeatable)
      throw new RedirectRefused('the request body was streamed and cannot be sent again')
    return { ...request, path }
  }
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(([name]) => !name.startsWith('content-')),
  )
  return { ...request, method: 'GET', path, headers, body: undefined }
}

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
  call: AttemptCall,
): Promise<RestResponse> {
  const { transport, maxResponseBytes, maxResponseItems, turns } = settings
  const { onBody, isConditional, answer: kind, caller } = call
  let answer: WireResponse | undefined
  let held: HeldReply | undefined
  try {
    answer = await transport.send(request, ending, caller)
    if (isRedirect(answer.status)) answer = await follow(answer, request, ending, settings, call)
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
