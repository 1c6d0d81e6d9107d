import type { InvalidationBus } from '@vinyasa/invalidation'
import type { Clock } from './clock.ts'
import type { FieldDefinitions } from './fields.ts'
import type { NameValues, QueryArrayFormat } from './query-template.ts'
import type { RetryOptions } from './retry-policy.ts'

export type { NameValues, QueryArrayFormat }

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The typed response of an endpoint. Specification: "REST response schema". */
export interface ResponseSchema {
  /** Name of the GraphQL object type. Endpoints of one connector may share it; their fields are united. */
  readonly typeName: string
  readonly fields: FieldDefinitions
  readonly description?: string | undefined
}

/** What a successful mutation announces; templates may hold `{argument}`, `entityId` also a path into the result. */
export interface InvalidationTemplate {
  readonly entityType: string
  /** Usually `create`, `update` or `delete`. */
  readonly operation: string
  /** `{id}` from the arguments or `$.id` from the result; absent: any entity of the type. */
  readonly entityId?: string | undefined
}

/** Marks a query field as live-capable; read by the live-query plugin. Specification: "Live query option". */
export interface LiveOptions {
  readonly enabled?: boolean | undefined
  readonly strategy?: 'INVALIDATION' | 'POLLING' | 'HASH_DIFF' | undefined
  readonly triggers?: readonly string[] | undefined
  readonly throttleMs?: number | undefined
  readonly pollIntervalMs?: number | undefined
  readonly ttlSeconds?: number | undefined
  readonly maxConnections?: number | undefined
  readonly dependsOn?: readonly string[] | undefined
  readonly volatility?: 'VeryHigh' | 'High' | 'Medium' | 'Low' | 'VeryLow' | undefined
}

/** One REST endpoint. Specification: "REST endpoint". */
export interface RestEndpoint {
  /** Also the name of the GraphQL field. */
  readonly name: string
  /** Appended to `baseUrl`; `{variable}` stands for an argument, percent-encoded inside its segment. */
  readonly path: string
  /** Default `GET`. GET endpoints become Query fields, the others Mutation fields. */
  readonly method?: HttpMethod | undefined
  /** Headers of this endpoint; they win over `defaultHeaders`. Values may hold `{variable}`. */
  readonly headers?: NameValues | undefined
  /** Query parameters, name to template. One whose variable is absent or null is left out. */
  readonly queryParams?: NameValues | undefined
  /** How lists are written in the query. Default `repeat`. */
  readonly queryArrayFormat?: QueryArrayFormat | undefined
  /** Body of POST, PUT and PATCH. Without one, all arguments are sent as a JSON object. */
  readonly bodyTemplate?: string | undefined
  /** `$.field`, `$.field.nested`, `$.array[0]`, `$.array[0].field`; nothing there gives null. */
  readonly responsePath?: string | undefined
  /** Milliseconds an attempt may take; overrides the connector's. */
  readonly timeoutMs?: number | undefined
  readonly description?: string | undefined
  /** The field's GraphQL type, for example `User` or `[User!]!`. Default: the response schema's type, or `JSON`. */
  readonly returnType?: string | undefined
  readonly responseSchema?: ResponseSchema | undefined
  /** Puts the field into Query whatever the method. */
  readonly asQuery?: boolean | undefined
  /**
   * Types of the arguments, for example `{ id: 'ID!', limit: 'Int' }`. A variable that is not declared is a `String`,
   * non-null when it stands in the path.
   */
  readonly args?: Readonly<Record<string, string>> | undefined
  /** What success announces on the bus. Default: derived from the name and the return type; `false`: nothing. */
  readonly invalidates?: false | readonly InvalidationTemplate[] | undefined
  /** Makes the query field live-capable. */
  readonly live?: LiveOptions | undefined
}

/** A connector. Specification: "REST connector". */
export interface RestConnectorOptions {
  /** `http` or `https`; endpoints' paths are appended, and no request leaves its origin and path. */
  readonly baseUrl: string
  readonly endpoints: readonly RestEndpoint[]
  /** Milliseconds one attempt may take, headers and body together. Default 30,000. */
  readonly timeoutMs?: number | undefined
  /** Milliseconds a call may take with all its attempts and waits. Default 60,000, or `timeoutMs` if that is more. */
  readonly totalTimeoutMs?: number | undefined
  /** Sent with every request. Values may hold `{variable}`. */
  readonly defaultHeaders?: NameValues | undefined
  /** Default: the `default` preset. */
  readonly retry?: RetryOptions | undefined
  /** Turns retries off. */
  readonly noRetry?: boolean | undefined
  /** Decoded bytes that a response may have. Default 10,000,000. */
  readonly maxResponseBytes?: number | undefined
  /** Where successful mutations are announced. */
  readonly bus?: InvalidationBus | undefined
  /** Default: the platform's. */
  readonly clock?: Clock | undefined
  /** Numbers in [0, 1) for jitter. Default `Math.random`. */
  readonly random?: (() => number) | undefined
}
