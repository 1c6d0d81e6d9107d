import { isInside, type Home } from './transport.ts'

/** Longer ones are nobody's next page. */
const MAX_URL_LENGTH = 8192

/** `<target>` and its parameters, of which each is a token with a token or a quoted text (RFC 8288, section 3). */
const LINK = /<([^<>]*)>((?:\s*;\s*[\w!#$&+.^`|~*-]+(?:\s*=\s*(?:"(?:\\.|[^"\\])*"|[^\s;,"]*))?)*)/g
const REL = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i

/**
 * The path and query to which a `Link` header leads with `rel="next"`; undefined: there is none. @throws Error where that
 * is on another origin, or outside the base URL: credentials are meant for what is below it alone
 */
export function nextPageOf(header: string | string[] | undefined, url: URL, home: Home): string | undefined {
  for (const [, target = '', parameters = ''] of [header ?? []].flat().join(', ').matchAll(LINK)) {
    const [, quoted, bare] = REL.exec(parameters) ?? []
    const relations = (quoted ?? bare ?? '').toLowerCase().split(/\s+/)
    if (!relations.includes('next')) continue
    if (target.length > MAX_URL_LENGTH)
      throw new Error(`the next-page URL in the Link header has more than ${MAX_URL_LENGTH} characters`)
    if (!URL.canParse(target, url.href)) throw new Error('the next-page URL in the Link header is not valid')
    const next = new URL(target, url)
    if (!isInside(next, home)) throw new Error('the next-page URL in the Link header is outside the base URL')
    return next.pathname + next.search
  }
  return undefined
}
