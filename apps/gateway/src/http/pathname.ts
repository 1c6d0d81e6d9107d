import type { IncomingMessage } from 'node:http'

/**
 * The path of a request, in whatever form its target came (RFC 9112, section 3.2); `/` for a target that is no URL,
 * such as `//`. Never throws: in a listener of an event that would end the process.
 */
export function pathnameOf({ url = '/' }: Pick<IncomingMessage, 'url'>): string {
  const base = 'http://localhost'
  return URL.canParse(url, base) ? new URL(url, base).pathname : '/'
}

/** What stands before the query of a target, as it was sent. */
export function pathOfTarget(target: string): string {
  const end = target.indexOf('?')
  return end < 0 ? target : target.slice(0, end)
}

/** The path without the query string, which may hold variables. */
export function pathOf(url: string): string {
  return PLAIN_PATH.exec(url)?.[1] ?? new URL(url, 'http://localhost').pathname
}

/** A path in which a URL finds nothing to write otherwise. */
const PLAIN_PATH = /^https?:\/\/[^/?#\\]+((?:\/[\w-]*)+)(?:$|\?)/
