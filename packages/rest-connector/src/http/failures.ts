import { NO_PLACE } from '@vinyasa/core'

/** Why an attempt failed, before anybody decided whether to try again or what a client may see of it. */

export class ResponseTooLarge extends Error {
  override readonly name = 'ResponseTooLarge'
  readonly limit: number
  constructor(limit: number) {
    super(`the response exceeds the limit of ${limit} bytes (maxResponseBytes)`)
    this.limit = limit
  }
}

/** So much of one client waits for a connection that this was not sent. */
export class NoPlace extends Error {
  override readonly name = 'NoPlace'
  constructor() {
    super(NO_PLACE.message)
  }
}

export class BadResponse extends Error {
  override readonly name = 'BadResponse'
}

export class RedirectRefused extends Error {
  override readonly name = 'RedirectRefused'
}

/** Errors of sockets, DNS, TLS and of the HTTP client all carry a `code`. */
export function isNetworkError(error: unknown): boolean {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).code === 'string'
}
