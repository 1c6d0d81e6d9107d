import type { IncomingMessage } from 'node:http'
import { atLeast, type KnownOptions, text, texts } from '@vinyasa/core'
import type { LiveQueryPlugin } from '../plugin.ts'
import type { LiveConnection, OnConnectResult } from '../protocol/live-socket.ts'
import type { AllowedOrigins } from '../protocol/origins.ts'
import type { UpdateFields } from '../store/update.ts'

export interface LiveServerOptions {
  /** The plugin that `useLiveQuery` returned. */
  readonly plugin: Pick<LiveQueryPlugin, 'engine'>
  /** Path of the sockets. Default `/graphql/live`. */
  readonly path?: string | undefined
  /** Maximum number of running operations on a socket. More are refused with `error`. Default 100. */
  readonly maxSubscriptionsPerSocket?: number | undefined
  /** A larger message closes the socket with 1009. Default 262 144. */
  readonly maxMessageBytes?: number | undefined
  /**
   * Maximum number of unsent bytes, plus 2 KiB for each message. A socket over the limit is terminated if it sent no
   * data for a second. Default 1 MiB.
   */
  readonly maxBufferedBytes?: number | undefined
  /**
   * Interval of pings in milliseconds. A socket that has not answered the previous ping is terminated. Default 12
   * 000; 0 disables pings.
   */
  readonly keepAliveMs?: number | undefined
  /**
   * Accepts or refuses `connection_init`. `false` closes the socket with 4403; an object becomes the payload of
   * `connection_ack`. `headers` are the headers that operations on the socket have.
   */
  readonly onConnect?:
    | ((connection: LiveConnection, headers: Headers) => OnConnectResult | Promise<OnConnectResult>)
    | undefined
  /**
   * Fields of the `connection_init` payload, or of its `headers`, that become request headers, because browsers
   * cannot set headers on a socket. The `extensions` of a `subscribe` can set them too, for that operation. Default
   * `['authorization']`.
   */
  readonly connectionHeaders?: readonly string[] | undefined
  /**
   * Names the client of a request. The sockets and live queries of a client share one part of the event loop.
   * Default: the address of the request, which is the proxy's address behind a proxy.
   */
  readonly clientOf?: ((request: IncomingMessage) => string) | undefined
  /** Returns additional context for each execution. */
  readonly context?: ((connection: LiveConnection) => Readonly<Record<string, unknown>>) | undefined
  /**
   * Origins whose pages can connect, such as `https://app.example`, in addition to the server's own origin. `*`
   * allows any page whose browser sends neither cookies nor `authorization`. A function decides for all origins and
   * receives the unchanged header. Other pages get 403. Requests without `Origin` do not come from a browser page and
   * can connect. The server's own origin is taken from `Host`; list it if a proxy changes that header. Default `[]`.
   */
  readonly allowedOrigins?: AllowedOrigins | undefined
  /**
   * Where the fields of an update other than `data` and `errors` are: in the payload, or in its
   * `extensions.liveQuery` as over SSE. Use `extensions` for clients that interpret a `revision` in the payload as a
   * patch, such as `@n1ru4l/graphql-live-query-patch`. Default `payload`.
   */
  readonly updateFields?: UpdateFields | undefined
}

export const LIVE_SERVER_OPTIONS: KnownOptions<LiveServerOptions> = {
  plugin: true,
  path: text,
  maxSubscriptionsPerSocket: atLeast(0),
  maxMessageBytes: atLeast(0),
  maxBufferedBytes: atLeast(0),
  keepAliveMs: atLeast(0),
  onConnect: true,
  connectionHeaders: texts,
  clientOf: true,
  context: true,
  allowedOrigins: true,
  updateFields: true,
}
