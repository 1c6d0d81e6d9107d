import type { IncomingMessage } from 'node:http'

/**
 * The path of a request, in whatever form its target came (RFC 9112, section 3.2); `/` for a target that is no URL,
 * such as `//`. Never throws: in a listener of an event that would end the process.
 */
export function pathnameOf({ url = '/' }: Pick<IncomingMessage, 'url'>): string {
  const base = 'http://localhost'
  return URL.canParse(url, base) ? new URL(url, base).pathname : '/'
}
