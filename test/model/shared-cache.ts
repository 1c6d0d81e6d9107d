/** What a cache on the way keeps of one response. */
interface Kept {
  status: number
  headers: Headers
  text: string
  /** By the names that `Vary` lists. */
  readonly asked: ReadonlyMap<string, string | null>
  at: number
}

export interface SharedAnswer {
  readonly text: string
  readonly cache: string | undefined
}

/**
 * A shared HTTP cache between clients and a server, for GETs (RFC 9111): what may not be kept it does not keep, what has to
 * be asked for again it asks for, and what `Vary` names has to be equal.
 */
export class SharedCache {
  readonly #kept = new Map<string, Kept[]>()

  async get(url: string, given: Readonly<Record<string, string>>): Promise<SharedAnswer> {
    const headers = new Headers(given)
    const kept = this.#kept
      .get(url)
      ?.findLast(({ asked }) => [...asked].every(([name, value]) => headers.get(name) === value))
    if (kept && isFresh(kept)) return { text: kept.text, cache: undefined }
    const etag = kept?.headers.get('etag')
    if (etag) headers.set('if-none-match', etag)
    const response = await fetch(url, { headers })
    const text = await response.text()
    const cache = response.headers.get('x-cache') ?? undefined
    if (response.status === 304 && kept) {
      response.headers.forEach((value, name) => kept.headers.set(name, value))
      kept.at = performance.now()
      return { text: kept.text, cache }
    }
    this.#keep(url, headers, response, text)
    return { text, cache }
  }

  #keep(url: string, request: Headers, { status, headers }: Response, text: string): void {
    const control = directivesOf(headers)
    const vary = (headers.get('vary') ?? '').split(',').map((name) => name.trim().toLowerCase())
    const mayBeKept =
      status === 200 && control.size > 0 && !control.has('no-store') && !control.has('private')
    // Section 3.5: a request with `Authorization` needs a word for it.
    const isOpen = !request.has('authorization') || control.has('public') || control.has('s-maxage')
    if (!mayBeKept || !isOpen || vary.includes('*')) return
    const asked = new Map(
      vary.filter((name) => name !== '').map((name) => [name, request.get(name)] as const),
    )
    const kept: Kept = { status, headers: new Headers(headers), text, asked, at: performance.now() }
    this.#kept.set(url, [...(this.#kept.get(url) ?? []), kept])
  }
}

function directivesOf(headers: Headers): ReadonlyMap<string, string> {
  const parts = (headers.get('cache-control') ?? '').split(',').map((part) => part.trim().toLowerCase())
  return new Map(parts.filter(Boolean).map((part) => [part.split('=')[0]!, part.split('=')[1] ?? '']))
}

function isFresh({ headers, at }: Kept): boolean {
  const control = directivesOf(headers)
  if (control.has('no-cache')) return false
  const age = Number(headers.get('age') ?? 0) + (performance.now() - at) / 1_000
  return Number(control.get('s-maxage') ?? control.get('max-age') ?? 0) > age
}
