import type { LiveOptions } from '@vinyasa/core'
import type { AnswerKind } from '../http/decode.ts'
import type { HttpMethod } from '../http/http-method.ts'
import type { ArgumentDefinition } from './arguments.ts'
import type { Deprecable, Described } from './described.ts'
import type { EnvelopeOptions } from './envelope-options.ts'
import type { BodyOptions } from '../bodies/body-options.ts'
import type { ParameterOptions } from '../parameters/parameter-options.ts'
import type { FieldDefinitions } from './fields.ts'
import type { NameValues, QueryArrayFormat } from '../templates/query-template.ts'

/** The typed response of an endpoint. Specification: "REST response schema". */
export interface ResponseSchema extends Described {
  /** Name of the GraphQL object type. Endpoints of one connector may share it; their fields are united. */
  readonly typeName: string
  /** Fields by name. A value is a kind, a type, or an object with more properties. */
  readonly fields: FieldDefinitions
}

/** An invalidation event that a mutation publishes. Only `entityId` can depend on the call. */
export interface InvalidationTemplate {
  /** The type that changed, by its GraphQL name. */
  readonly entityType: string
  /** Usually `create`, `update` or `delete`. */
  readonly operation: string
  /** `{id}` or `{user.id}` from the arguments, or `$.id` from the result. Default: any entity of the type. */
  readonly entityId?: string | undefined
}

/** Sends many keys in one request. The argument that `args` binds receives the list of keys. */
export interface JoinBatch {
  /** The property of each returned item that contains its key, or a path to it. It has the syntax of a field's `key`. */
  readonly key: string
  /** Returns a list of all items with the key. Default false; the field returns one item or null. */
  readonly many?: boolean | undefined
  /** Maximum keys per request. Default 100 for GET, because URLs are limited, and no limit for other methods. */
  readonly maxBatchSize?: number | undefined
}

/** Resolves a field of an object type with an endpoint. Another source can define the type. */
export interface JoinOptions extends Described {
  /** The GraphQL type to which the field is added. It can belong to another source. */
  readonly type: string
  /** The new field's name. */
  readonly field: string
  /** Binds endpoint arguments to fields of the parent: `{ userId: '{id}' }`. Other arguments become arguments of the field. */
  readonly args: Readonly<Record<string, string>>
  /** Loads all parents of an operation with one request. Default: one request per parent. */
  readonly batch?: JoinBatch | undefined
}

/** One REST endpoint. Specification: "REST endpoint". */
export interface RestEndpoint extends Deprecable {
  /** Name of the endpoint and of its GraphQL field. */
  readonly name: string
  /** Path that is appended to `baseUrl`. `{variable}` inserts an argument, percent-encoded within its segment. */
  readonly path: string
  /** Base URL of an endpoint on another server. Credentials of interceptors are sent there too. Default: the connector's. */
  readonly baseUrl?: string | undefined
  /** HTTP method. GET endpoints become Query fields, other endpoints Mutation fields. Default `GET`. */
  readonly method?: HttpMethod | undefined
  /** Headers of this endpoint. They override `defaultHeaders`. Values can contain `{variable}`. */
  readonly headers?: NameValues | undefined
  /** The `Accept` header, unless another option sets it. Default: JSON, and any other type with a lower quality. */
  readonly accept?: string | undefined
  /** Templates of query parameters by name. A parameter is omitted if its variable is absent or null. */
  readonly queryParams?: NameValues | undefined
  /** Format of lists in the query. Default `repeat`. */
  readonly queryArrayFormat?: QueryArrayFormat | undefined
  /**
   * Body of POST, PUT, PATCH and DELETE; `false` sends no body. Default for POST, PUT and PATCH: a JSON object of all
   * arguments that are not used in the path, `queryParams` or headers; for DELETE: none.
   */
  readonly bodyTemplate?: string | false | undefined
  /** Parameters in the styles of the OpenAPI specification, in addition to `queryParams` and `headers`. */
  readonly parameters?: readonly ParameterOptions[] | undefined
  /** Sends one argument as the body, in any media type. It replaces `bodyTemplate`. */
  readonly body?: BodyOptions | undefined
  /** Path of the result in the response: `$.field`, `$.field.nested`, `$.array[0]`. A missing value is null. */
  readonly responsePath?: string | undefined
  /** Timeout of one attempt in milliseconds. Default: the connector's. */
  readonly timeoutMs?: number | undefined
  /** The field's GraphQL type, for example `User` or `[User!]!`. Default: the response schema's type, or `JSON`. */
  readonly returnType?: string | undefined
  /**
   * Treats a single object as a list with one item if the object has all these JSON properties and `returnType` is a
   * list. Backends that convert XML to JSON send such objects. Default: a single object is an error.
   */
  readonly listOfOne?: readonly string[] | undefined
  /** The type of the response, with its fields. */
  readonly responseSchema?: ResponseSchema | undefined
  /**
   * Kind of the body of successful responses. `json`: JSON or text, by media type. `text`: text of any media type. `binary`:
   * the bytes as base64. `none`: the body is ignored, and the field is true. Default `json`.
   */
  readonly answer?: AnswerKind | undefined
  /** Returns an object with the response body, headers, the next page and links. Default: the field returns the body. */
  readonly envelope?: EnvelopeOptions | undefined
  /** Adds the field to Query for any method. Default false. */
  readonly asQuery?: boolean | undefined
  /**
   * The arguments, for example `{ id: 'ID!', limit: { type: 'Int', default: 20 } }`. An undeclared variable is a `String`,
   * and non-null if the path uses it.
   */
  readonly args?: Readonly<Record<string, ArgumentDefinition | string>> | undefined
  /** Fields of other types that this endpoint resolves. */
  readonly on?: JoinOptions | readonly JoinOptions[] | undefined
  /** Adds a field to Query or Mutation. `false` leaves only joins and `execute`. Default true. */
  readonly rootField?: boolean | undefined
  /**
   * Events that a mutation publishes on the bus if it succeeded or if its outcome is unknown (connection lost or timeout).
   * Default: derived from the name and the return type; `false` publishes nothing.
   */
  readonly invalidates?: false | readonly InvalidationTemplate[] | undefined
  /**
   * Names of types that a mutation changes in addition to the types in its result. `[]`: no other types. `['*']`: all
   * types. Default: the types in `invalidates`. If both options are missing and the result contains no entity, the
   * connector assumes that the mutation changed data of every type.
   */
  readonly changes?: readonly string[] | undefined
  /** Names of types that the result depends on but does not contain. `[]`: no other types. `['*']`: all types. */
  readonly dependsOn?: readonly string[] | undefined
  /** Enables live queries for the query field. */
  readonly liveQuery?: LiveOptions | undefined
}
