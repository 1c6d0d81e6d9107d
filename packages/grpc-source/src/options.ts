import type { InvalidationBus } from '@vinyasa/invalidation'
import type { FieldAnnotation, SchemaAnnotation } from './contract/annotations.ts'
import type { Int64Mode } from './codec/scalar-codecs.ts'
import type { JoinOptions } from './contract/join-options.ts'
import type { Clock, LiveOptions } from '@vinyasa/core'
import type { PlanEvent, SourceNames } from '@vinyasa/source-kit'
import type { CallObserver, OnReply, RetryOptions } from './runtime/call.ts'
import type { Endpoint } from './runtime/endpoint.ts'
import type { MetadataOptions } from './runtime/metadata.ts'
import type { ExposeErrors } from './methods/rpc-error.ts'
import type { ChannelOptions, ResolvedEndpoint, TlsOptions, Transport } from '@vinyasa/grpc-transport'
import type { TypeNaming } from './contract/graphql-names.ts'

export interface Logger {
  warn(message: string): void
  error(message: string, error?: unknown): void
}

/**
 * The source of the descriptors. Set exactly one of `protoFiles`, `descriptorSet`, `reflection` and `protoMetadata`.
 * `includePaths` and `protoText` are used together with `protoFiles`.
 */
export interface DescriptorOptions {
  /** Paths of `.proto` files. `graphql.proto` and `google/protobuf/*` are found without an include path. */
  readonly protoFiles?: readonly string[] | undefined
  /** `.proto` text by the path under which other files import it. */
  readonly protoText?: Readonly<Record<string, string>> | undefined
  /** Folders in which imports are searched, in order. */
  readonly includePaths?: readonly string[] | undefined
  /** Path or bytes of a FileDescriptorSet (`buf build -o`, `protoc --descriptor_set_out`). */
  readonly descriptorSet?: string | Uint8Array | undefined
  /** Reads the descriptors from the server at `endpoint` with gRPC reflection (v1, then v1alpha). */
  readonly reflection?: boolean | ReflectionOptions | undefined
  /** The `protoMetadata` objects that ts-proto generates with `outputSchema=true`. */
  readonly protoMetadata?: readonly unknown[] | undefined
}

export interface ReflectionOptions {
  /** Full service names. Default: all services that the server lists. */
  readonly services?: readonly string[] | undefined
  /** Metadata of the request, for servers that require authentication. */
  readonly metadata?: Readonly<Record<string, string>> | undefined
  /** Timeout of the request in milliseconds. Default 5000. */
  readonly timeoutMs?: number | undefined
}

/** The mapping from protobuf to GraphQL. The defaults lose no information. */
export interface MappingInput {
  /** Field names in camel case (`camel`), or as in the proto (`proto`). Default `camel`. */
  readonly fieldNames?: 'camel' | 'proto' | undefined
  /** 64-bit integers: `string` (`String`), `number-when-safe` (`Long`) or `bigint-scalar` (`BigInt`). Default `string`. */
  readonly int64?: Int64Mode | undefined
  /** Removes the prefix that all values of an enum share with its name. Default false. */
  readonly stripEnumPrefix?: boolean | undefined
  /** Removes the value `…_UNSPECIFIED = 0` of enums. It then reads as null. Default false. */
  readonly hideUnspecified?: boolean | undefined
  /** Maps as lists of typed `{key, value}` entries (`entries`), or as `JSON` objects (`json`). Default `entries`. */
  readonly maps?: 'entries' | 'json' | undefined
  /** Output oneofs as nullable fields (`fields`), or as one field of a union type (`union`). Default `fields`. */
  readonly oneofs?: 'fields' | 'union' | undefined
  /** Accepts files of a multipart request for input `bytes`, with the scalar `Upload`. Default false. */
  readonly uploads?: boolean | undefined
  /**
   * GraphQL type names by full proto name. A well-known type with an entry becomes an object with its fields:
   * `google.protobuf.Timestamp: Timestamp` has the fields `seconds` and `nanos` instead of being a `DateTime`.
   */
  readonly typeNames?: Readonly<Record<string, string>> | undefined
  /**
   * `short`: `User` for `shop.v1.User`, or `ShopV1User` if an earlier file or service has a type `User`. `qualified`: always
   * `ShopV1User`. Default `short`.
   */
  readonly typeNaming?: TypeNaming | undefined
  /** `(graphql.field)` options by `package.Message.field`. They override the proto. */
  readonly fields?: Readonly<Record<string, FieldAnnotation>> | undefined
}

/** Mapping options with all defaults set. */
export type MappingOptions = {
  readonly [Option in Exclude<keyof MappingInput, 'typeNaming'>]-?: NonNullable<MappingInput[Option]>
}

export interface MethodOptions {
  /** `(graphql.schema)` options. Each of them overrides the same option of the proto. `false` removes the method. */
  readonly schema?: SchemaAnnotation | false | undefined
  /** `(graphql.live_query)` options. Each of them overrides the same option of the proto. */
  readonly liveQuery?: LiveOptions | undefined
  /** Timeout of the call in milliseconds from the start of the operation. Default: the source's. */
  readonly timeoutMs?: number | undefined
  /** Retries of the method. Mutations are never retried. Default: the source's. */
  readonly retry?: Pick<RetryOptions, 'maxRetries'> | undefined
  /**
   * Keeps the request side of a bidirectional stream open until the client disconnects. By default, the source ends its side
   * after the only request. Servers such as etcd's `Watch` treat this as the end of the subscription. Default false.
   */
  readonly keepRequestsOpen?: boolean | undefined
  /**
   * Invalidation events that a mutation publishes if it succeeded or if its outcome is unknown (connection lost or timeout).
   * `false` publishes nothing. Default: derived from the method.
   */
  readonly invalidates?: InvalidationRule | readonly InvalidationRule[] | false | undefined
  /**
   * Names of types that a mutation changes in addition to the types in its result. `[]`: no other types. `['*']`: all types.
   * Default: the types of `invalidates`; a result without an entity changes everything if both are missing.
   */
  readonly changes?: readonly string[] | undefined
  /**
   * Names of types that the result depends on but does not contain. `[]`: no other types. `['*']`: all types. Default:
   * `live_query.depends_on`.
   */
  readonly dependsOn?: readonly string[] | undefined
}

export interface InvalidationRule {
  /** The type that changed, by its GraphQL name. */
  readonly entityType: string
  /** The kind of change. Default: derived from the verb in the method's name. */
  readonly operation?: string | undefined
  /**
   * `{id}` or `{user.id}` from the request, or `$.id` from the response, with GraphQL field names. Default: the response's
   * `id` if the response is an entity of this type, otherwise any entity of the type.
   */
  readonly entityId?: string | undefined
}

/**
 * The methods without `graphql.schema` that become fields. `annotated`: no methods. `all`: methods of services that the named
 * files define. A list: methods that match a pattern, in any file.
 */
export type Expose = 'annotated' | 'all' | readonly string[]

/** Options of {@link createGrpcSource}. */
export interface GrpcSourceOptions extends DescriptorOptions, MappingInput, SourceNames {
  /** The name in errors, logs and metrics. */
  readonly name: string
  /** The endpoint of services that are not in `endpoints`. Default: `(graphql.service).host`. */
  readonly endpoint?: Endpoint | undefined
  /** Endpoints by full service name. */
  readonly endpoints?: Readonly<Record<string, Endpoint>> | undefined
  /** TLS for endpoints without a `tls` option. Default: plaintext, but TLS for `https://`. */
  readonly tls?: boolean | TlsOptions | undefined
  /** Keepalive, message sizes, compression and connection pool. */
  readonly channel?: ChannelOptions | undefined
  /**
   * Exposes methods without `graphql.schema` as fields. `annotated` exposes none of them. `all` exposes the services of the
   * named files, but not those of imported files. Descriptor sets of protoc do not distinguish them. A list has patterns of
   * services and methods: `['shop.v1.*', '!shop.v1.Admin']`. Default `annotated`.
   */
  readonly expose?: Expose | undefined
  /** Settings by `package.Service.Method`. */
  readonly methods?: Readonly<Record<string, MethodOptions>> | undefined
  /** Fields that an RPC resolves. Their types can belong to other sources. */
  readonly joins?: readonly JoinOptions[] | undefined
  /**
   * Timeout of calls in milliseconds from the start of the operation; 0: no limit. Default 15000. Streams have no timeout
   * unless their method sets one.
   */
  readonly timeoutMs?: number | undefined
  /** Retries of queries if the backend is unavailable. */
  readonly retry?: RetryOptions | undefined
  /**
   * Shares one RPC between identical calls of a query (`operation`), or also across requests in flight with the same
   * metadata (`inflight`). `false` disables sharing. Default `operation`.
   */
  readonly dedupe?: 'operation' | 'inflight' | false | undefined
  /**
   * Names of client headers to forward as metadata. Default `authorization`, `x-request-id`, `traceparent`, `tracestate`.
   * Headers of the connection and of gRPC itself are never forwarded.
   */
  readonly forwardHeaders?: readonly string[] | undefined
  /** Metadata of every call, in addition to `forwardHeaders`. Default: none. */
  readonly metadata?: MetadataOptions | undefined
  /**
   * Executes queries with plans if they select only fields of sources with plans. A plan converts reply bytes to JSON
   * without intermediate objects. Responses and errors are the same as with graphql-js, which executes all other operations.
   * Default true.
   */
  readonly plans?: boolean | undefined
  /** Called with each operation that is planned or not planned, and with the reason. Exceptions are ignored. */
  readonly onPlan?: ((event: PlanEvent) => void) | undefined
  /**
   * Maximum number of values in lists and maps of one reply, selected or not. Calls with larger replies fail with
   * `RESPONSE_TOO_LARGE`. Default 100 000.
   */
  readonly maxResponseItems?: number | undefined
  /** Sends the selected fields in the request's `read_mask` or `field_mask`. Default false. */
  readonly fieldMasks?: boolean | undefined
  /** Serves the schema as an Apollo Federation 2 subgraph. Default false. */
  readonly federation?: boolean | FederationOptions | undefined
  /**
   * Backend messages that clients see in errors. `false`: clients get a code and a generic message for each status.
   * `'caller'`: messages of statuses that concern the caller (`INVALID_ARGUMENT`, `NOT_FOUND`, `ALREADY_EXISTS`,
   * `PERMISSION_DENIED`, `RESOURCE_EXHAUSTED`, `FAILED_PRECONDITION`, `ABORTED`, `OUT_OF_RANGE`, `UNAUTHENTICATED`). `true`:
   * all messages, and decoded `google.rpc` details; for development. Default `false`.
   */
  readonly exposeErrors?: ExposeErrors | undefined
  /** The bus on which mutations publish invalidation events. */
  readonly bus?: InvalidationBus | undefined
  /** Called when a call has ended, with the headers and trailers of its reply. Exceptions are ignored. */
  readonly onReply?: OnReply | undefined
  /**
   * Names of reply metadata (headers or trailers) that responses to queries and mutations carry as HTTP headers; `-bin`
   * values are base64. Only the request that triggered the call gets them. Responses from a cache, or from a call that
   * another request started, do not have them. A response with one of them is `private, no-store`. Default: none.
   * @throws GrpcSourceError at start for names that belong to the connection or the body
   */
  readonly responseHeaders?: readonly string[] | undefined
  /** Called when a call starts and ends, for metrics and traces. */
  readonly observe?: CallObserver | undefined
  /** Reloads when a proto or descriptor file changes. Default false. */
  readonly watch?: boolean | undefined
  /**
   * The transport of calls. `http2` uses about a tenth of the CPU time of `grpc-js` if the reply is small. `grpc-js` also
   * supports `xds:` and `unix-abstract:` targets, `channel.raw` and proxies from the environment. A function creates a
   * custom transport. Default `http2`.
   */
  readonly transport?: 'http2' | 'grpc-js' | ((endpoint: ResolvedEndpoint) => Transport) | undefined
  readonly clock?: Clock | undefined
  /** Returns a number from 0 to 1 for jitter. Default `Math.random`. */
  readonly random?: (() => number) | undefined
  readonly logger?: Logger | undefined
}

export interface FederationOptions {
  /**
   * Resolvers of references by type name, with the options of `joins`. The reference is the parent. Default: a method that
   * accepts the key.
   */
  readonly entities?: Readonly<Record<string, Omit<JoinOptions, 'type' | 'field'>>> | undefined
}
