import type { LiveOptions } from '@vinyasa/base'
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
  /** Its fields by name: a kind or a type, or an object that says more. */
  readonly fields: FieldDefinitions
}

/** An event that a mutation announces; only `entityId` may depend on the call. */
export interface InvalidationTemplate {
  /** The type that changed, by its GraphQL name. */
  readonly entityType: string
  /** Usually `create`, `update` or `delete`. */
  readonly operation: string
  /** `{id}` or `{user.id}` from the arguments, `$.id` from the result; absent: any entity of the type. */
  readonly entityId?: string | undefined
}

/** Many keys in one request: the one argument that `args` binds gets the list of them. */
export interface JoinBatch {
  /** The member of each returned item that holds its key, or a path to it, as the `key` of a field. */
  readonly key: string
  /** True: the field is the list of all items with the key. Default false: the one item, or null. */
  readonly many?: boolean | undefined
  /** Keys per request. Default 100 for GET, whose URL is bounded, and no limit for the others. */
  readonly maxBatchSize?: number | undefined
}

/** Makes an endpoint resolve a field of any object type, also of one that another source defines. */
export interface JoinOptions extends Described {
  /** The GraphQL type that gets the field, of this or any other source. */
  readonly type: string
  /** The new field's name. */
  readonly field: string
  /** Arguments of the endpoint from fields of the parent: `{ userId: '{id}' }`. The others stay arguments of the field. */
  readonly args: Readonly<Record<string, string>>
  /** One request for all parents of an operation. Default: a request for each. */
  readonly batch?: JoinBatch | undefined
}

/** One REST endpoint. Specification: "REST endpoint". */
export interface RestEndpoint extends Deprecable {
  /** Also the name of the GraphQL field. */
  readonly name: string
  /** Appended to `baseUrl`; `{variable}` stands for an argument, percent-encoded inside its segment. */
  readonly path: string
  /** Instead of the connector's, for an endpoint on another server; interceptors' credentials are sent there too. */
  readonly baseUrl?: string | undefined
  /** Default `GET`. GET endpoints become Query fields, the others Mutation fields. */
  readonly method?: HttpMethod | undefined
  /** Headers of this endpoint; they win over `defaultHeaders`. Values may hold `{variable}`. */
  readonly headers?: NameValues | undefined
  /** The media types to ask for, where no header of the config says it. Default: JSON, or else anything. */
  readonly accept?: string | undefined
  /** Query parameters, name to template. One whose variable is absent or null is left out. */
  readonly queryParams?: NameValues | undefined
  /** How lists are written in the query. Default `repeat`. */
  readonly queryArrayFormat?: QueryArrayFormat | undefined
  /**
   * Body of POST, PUT, PATCH and DELETE; `false`: none. Default for POST, PUT and PATCH: a JSON object of all arguments
   * that stand neither in path, `queryParams` nor headers; for DELETE: none.
   */
  readonly bodyTemplate?: string | false | undefined
  /** Parameters in the styles of the OpenAPI specification, beside `queryParams` and `headers`, or instead of them. */
  readonly parameters?: readonly ParameterOptions[] | undefined
  /** A body that is one argument, in any media type; instead of `bodyTemplate`. */
  readonly body?: BodyOptions | undefined
  /** `$.field`, `$.field.nested`, `$.array[0]`, `$.array[0].field`; nothing there gives null. */
  readonly responsePath?: string | undefined
  /** Milliseconds an attempt may take; overrides the connector's. */
  readonly timeoutMs?: number | undefined
  /** The field's GraphQL type, for example `User` or `[User!]!`. Default: the response schema's type, or `JSON`. */
  readonly returnType?: string | undefined
  /**
   * JSON members by which one object is known as an item, where `returnType` is a list: an answer of one object that has
   * all of them is a list of one, as backends write it that make JSON of XML. Default: such an answer is an error.
   */
  readonly listOfOne?: readonly string[] | undefined
  /** The type of the response, with its fields. */
  readonly responseSchema?: ResponseSchema | undefined
  /**
   * The kind of body that a success has. Default `json`: JSON or text, by its media type. `text`: text of any
   * media type; `binary`: the bytes, as base64; `none`: nothing that matters, the field is true.
   */
  readonly answer?: AnswerKind | undefined
  /** Makes the field an object of the answer and of what came around it: headers, the next page. Default: the answer alone. */
  readonly envelope?: EnvelopeOptions | undefined
  /** Puts the field into Query whatever the method. */
  readonly asQuery?: boolean | undefined
  /**
   * The arguments, for example `{ id: 'ID!', limit: { type: 'Int', default: 20 } }`. A variable that is not declared is
   * a `String`, non-null when it stands in the path.
   */
  readonly args?: Readonly<Record<string, ArgumentDefinition | string>> | undefined
  /** Fields of other types that this endpoint resolves. */
  readonly on?: JoinOptions | readonly JoinOptions[] | undefined
  /** False: no field of its own in Query or Mutation, only joins and `execute`. Default true. */
  readonly rootField?: boolean | undefined
  /**
   * The events that a mutation announces on the bus when it succeeded or when its outcome is unknown (it
   * broke off, or ran out of time). Default: derived from the name and the return type; `false`: none.
   */
  readonly invalidates?: false | readonly InvalidationTemplate[] | undefined
  /**
   * States what a mutation changes besides what its result is made of, as names of types; `[]`: nothing, `['*']`:
   * anything. Default: the types of `invalidates`; without both, a result that holds no entity changes everything.
   */
  readonly changes?: readonly string[] | undefined
  /** States of what types the answer is computed besides those that it shows; `[]`: none, `['*']`: any. */
  readonly dependsOn?: readonly string[] | undefined
  /** Makes the query field live-capable. */
  readonly liveQuery?: LiveOptions | undefined
}
