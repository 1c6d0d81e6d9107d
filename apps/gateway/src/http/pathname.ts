const BASE = 'http://localhost'

/** A target, or a whole URL, in whose path a URL finds nothing to write otherwise; `//` begins a host. */
const PLAIN = /^(?:https?:\/\/[^/?#\\]+)?((?!\/\/)(?:\/[\w-]*)+)(?:$|\?)/

/**
 * The path of a request, without its query, in whatever form its target came (RFC 9112, section 3.2); `/` for a target
 * that is no URL, such as `//`. Never throws: in a listener of an event that would end the process.
 */
export function pathnameOf(target: string): string {
  return PLAIN.exec(target)?.[1] ?? (URL.canParse(target, BASE) ? new URL(target, BASE).pathname : '/')
}
