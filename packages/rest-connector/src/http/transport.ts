import type { Clock, Ending } from '@vinyasa/core'
import type { LookupFunction } from 'node:net'
import type { WireBody } from '../bodies/wire-body.ts'
import { RestConfigError } from '../errors.ts'

/** An address that requests do not leave. */
export interface Home {
  readonly base: URL
  /** The address's path without a trailing slash. */
  readonly basePath: string
}

/** Throws `RestConfigError` for what is no plain address of a server. */
export function parseBaseUrl(baseUrl: string): Home {
  if (!URL.canParse(baseUrl)) throw new RestConfigError(`baseUrl "${baseUrl}" is not an absolute URL`)
  const url = new URL(baseUrl)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new RestConfigError(`baseUrl must be http or https, got "${url.protocol}"`)
  if (url.username || url.password)
    throw new RestConfigError('baseUrl contains credentials; send them with an interceptor or defaultHeaders')
  if (url.search || url.hash) throw new RestConfigError('baseUrl must not have a query or a fragment')
  return { base: url, basePath: url.pathname.replace(/(?<!\/)\/+$/, '') }
}

export function isInside({ origin, pathname }: URL, { base, basePath }: Home): boolean {
  return origin === base.origin && (pathname === basePath || pathname.startsWith(`${basePath}/`))
}

export interface WireRequest {
  readonly method: string
  /** Only when it is not the connector's own. */
  readonly origin?: string | undefined
  /** Path and query, as they go on the wire. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: WireBody | undefined
}

export interface WireResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
  /** Frees the memory of a long body. Call it when the body was read. */
  release?(): void
}

export interface Transport {
  /**
   * Sends one request and reads its answer to the end, so that the connection can be used again. `caller`: the context of the
   * operation, or the `Callers` of several; by whose they are, requests that wait for a connection take turns.
   */
  send(request: WireRequest, ending: Ending, caller?: unknown): Promise<WireResponse>
  close(): Promise<void>
}

export interface TransportOptions {
  readonly origin: string
  readonly maxResponseBytes: number
  readonly maxConnections: number
  /** 0: as old as they get. */
  readonly maxConnectionAgeMs: number
  readonly clock: Clock
  /** Default: the system's. */
  readonly lookup?: LookupFunction | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}
