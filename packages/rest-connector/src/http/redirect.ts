import type { Ending } from '@vinyasa/base'
import { single } from './header-values.ts'
import { RedirectRefused } from './failures.ts'
import { isStreamed } from '../bodies/wire-body.ts'
import type { Transport, WireRequest, WireResponse } from './transport.ts'

const MAX_REDIRECTS = 5
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

export function isRedirect(status: number): boolean {
  return REDIRECTS.has(status)
}

interface Following {
  readonly transport: Transport
  /** The connector's own. */
  readonly origin: string
  readonly ending: Ending
  readonly caller: unknown
}

/**
 * Follows redirects on the same origin. One that leads elsewhere is refused: credentials, interceptors' headers and bodies are
 * meant for this origin alone.
 */
export async function follow(
  first: WireResponse,
  sent: WireRequest,
  { transport, origin, ending, caller }: Following,
  onRedirect: () => void,
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
