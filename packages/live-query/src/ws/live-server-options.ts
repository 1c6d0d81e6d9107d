import type { IncomingMessage } from 'node:http'
import { atLeast, type Clock, type KnownOptions, text, texts } from '@vinyasa/base'
import type { LiveQueryPlugin } from '../plugin.ts'
import type { LiveConnection, OnConnectResult } from '../protocol/live-connection.ts'
import type { AllowedOrigins } from '../protocol/origins.ts'
import type { UpdateFields } from '../store/update.ts'

export interface LiveServerOptions {
  /** The plugin that `useLiveQuery` returned. */
  readonly plugin: Pick<LiveQueryPlugin, 'engine'>
  /** Default `/graphql/live`. */
  readonly path?: string | undefined
  /** Live queries, subscriptions and queries under way on one socket. One over is answered with `error`. Default 100. */
  readonly maxSubscriptionsPerSocket?: number | undefined
  /** A larger message closes the socket with 1009. Default 262 144. */
  readonly maxMessageBytes?: number | undefined
  /**
   * A socket with more than this waiting to be sent, 2 KiB a message included, is cut off when nothing has left for a
   * second. Default 1 MiB.
   */
  readonly maxBufferedBytes?: number | undefined
  /** Time for `connection_init`, else 4408. Default 3000; 0: for ever. */
  readonly connectionInitTimeoutMs?: number | undefined
  /** A ping this often; a socket that has not answered the one before is cut off. Default 12 000; 0: none. */
  readonly keepAliveMs?: number | undefined
  /**
   * Whether to accept `connection_init`. `false` closes with 4403; an object is the payload of `connection_ack`. The
   * headers are those that operations of the socket have.
   */
  readonly onConnect?:
    | ((connection: LiveConnection, headers: Headers) => OnConnectResult | Promise<OnConnectResult>)
    | undefined
  /**
   * Payload fields of `connection_init` (or of its `headers`) that count as request headers, as browsers cannot set
   * headers on a socket; of the `extensions` of a `subscribe`, too, for that operation. Default `['authorization']`.
   */
  readonly connectionHeaders?: readonly string[] | undefined
  /**
   * Names the client whose share of the event loop the sockets and live queries of a request take, where some
   * have more to do than others should wait for. Default: that of the address it came from; behind a proxy
   * that is the proxy's.
   */
  readonly clientOf?: ((request: IncomingMessage) => string) | undefined
  /** More for the context of each execution. */
  readonly context?: ((connection: LiveConnection) => Readonly<Record<string, unknown>>) | undefined
  /**
   * Which pages may connect: origins as `https://app.example`, beside that of the server itself; `*`: any page, as long as
   * its browser sends neither cookies nor `authorization`; a function decides alone, and gets the header as it came.
   * What sends no `Origin` is no page of a browser, and connects. Others are refused with 403. The server's own origin
   * is the one of `Host`; where a proxy changes that, list the origin. Default `[]`.
   */
  readonly allowedOrigins?: AllowedOrigins | undefined
  /**
   * Where the fields of a live query's update beside `data` and `errors` stand: in the payload, or in its
   * `extensions.liveQuery`, as over SSE. The latter is for clients to which a `revision` in the payload announces a patch, as
   * those of `@n1ru4l/graphql-live-query-patch`. Default `payload`.
   */
  readonly updateFields?: UpdateFields | undefined
  /** Receives failures of the background. Default: `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined
  readonly clock?: Clock | undefined
}

export const LIVE_SERVER_OPTIONS: KnownOptions<LiveServerOptions> = {
  plugin: true,
  path: text,
  maxSubscriptionsPerSocket: atLeast(0),
  maxMessageBytes: atLeast(0),
  maxBufferedBytes: atLeast(0),
  connectionInitTimeoutMs: atLeast(0),
  keepAliveMs: atLeast(0),
  onConnect: true,
  connectionHeaders: texts,
  clientOf: true,
  context: true,
  allowedOrigins: true,
  updateFields: true,
  onError: true,
  clock: true,
}
