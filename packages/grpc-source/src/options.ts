import type { InvalidationBus } from '@vinyasa/invalidation'
import type { FieldAnnotation, SchemaAnnotation } from './contract/annotations.ts'
import type { Int64Mode } from './codec/scalar-codecs.ts'
import type { Expose } from './contract/exposure.ts'
import type { JoinOptions } from './contract/join-options.ts'
import type { Clock, LiveOptions } from '@vinyasa/base'
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
 * Sources of descriptors: exactly one of the four, `includePaths` and `protoText` going with `protoFiles`.
 */
export interface DescriptorOptions {
  /** Paths of `.proto` files. `graphql.proto` and `google/protobuf/*` are found without an include path. */
  readonly protoFiles?: readonly string[] | undefined
  /** `.proto` text by the path under which other files import it. */
  readonly protoText?: Readonly<Record<string, string>> | undefined
  /** Folders in which imports are looked up, in order. */
  readonly includePaths?: readonly string[] | undefined
  /** A FileDescriptorSet, as a path or as bytes (`buf build -o`, `protoc --descriptor_set_out`). */
  readonly descriptorSet?: string | Uint8Array | undefined
  /** Asks the server at `endpoint` (v1, then v1alpha). `services` limits it, `metadata` goes with the request. */
  readonly reflection?: boolean | ReflectionOptions | undefined
  /** The `protoMetadata` objects that ts-proto writes with `outputSchema=true`. */
  readonly protoMetadata?: readonly unknown[] | undefined
}

export interface ReflectionOptions {
  /** Full service names; default: all that the server lists. */
  readonly services?: readonly string[] | undefined
  /** Metadata of the request, for servers that ask who wants to know. */
  readonly metadata?: Readonly<Record<string, string>> | undefined
  /** Milliseconds that the server may take. Default 5000. */
  readonly timeoutMs?: number | undefined
}

/** How protobuf maps to GraphQL; all settings have the default that loses nothing. */
export interface MappingInput {
  /** `camel` (default) or `proto`: names as in the proto. */
  readonly fieldNames?: 'camel' | 'proto' | undefined
  /** 64-bit integers: `string` (default, `String`), `number-when-safe` (`Long`) or `bigint-scalar` (`BigInt`). */
  readonly int64?: Int64Mode | undefined
  /** Removes the prefix that all values of an enum share with its name. Default false. */
  readonly stripEnumPrefix?: boolean | undefined
  /** Leaves an enum's `…_UNSPECIFIED = 0` out; it reads as null. Default false. */
  readonly hideUnspecified?: boolean | undefined
  /** Maps as lists of typed `{key, value}` entries (default) or as `JSON` objects. */
  readonly maps?: 'entries' | 'json' | undefined
  /** Output oneofs as nullable fields (default) or as one field of a union type. */
  readonly oneofs?: 'fields' | 'union' | undefined
  /** Input `bytes` take files of a multipart request, under the name `Upload`. Default false. */
  readonly uploads?: boolean | undefined
  /**
   * GraphQL type names by full proto name. A well-known type that has one is an object of its fields:
   * `google.protobuf.Timestamp: Timestamp` gives `{ seconds nanos }` in place of a `DateTime`.
   */
  readonly typeNames?: Readonly<Record<string, string>> | undefined
  /**
   * `short` (default): `User` for `shop.v1.User`, or `ShopV1User` where a type of a file or service that is named before it
   * is called `User`. `qualified`: all are `ShopV1User`.
   */
  readonly typeNaming?: TypeNaming | undefined
  /** The same as `(graphql.field)`, by `package.Message.field`; wins over the proto. */
  readonly fields?: Readonly<Record<string, FieldAnnotation>> | undefined
}

/** The same with every default filled in. */
export type MappingOptions = {
  readonly [Option in Exclude<keyof MappingInput, 'typeNaming'>]-?: NonNullable<MappingInput[Option]>
}

export interface MethodOptions {
  /**
   * The same as `(graphql.schema)`; wins over the proto setting by setting, so that what it leaves out is as the proto says.
   * `false` takes the method out.
   */
  readonly schema?: SchemaAnnotation | false | undefined
  /** The same as `(graphql.live_query)`; wins over the proto setting by setting. */
  readonly liveQuery?: LiveOptions | undefined
  /** Milliseconds from the start of the operation by which the call must be done. Default: the source's. */
  readonly timeoutMs?: number | undefined
  /** How often it is sent again; mutations never are. Default: the source's. */
  readonly retry?: Pick<RetryOptions, 'maxRetries'> | undefined
  /**
   * A method that streams both ways is opened by one request, after which the gateway ends its side, as no other comes.
   * `true`: it ends its side when the client leaves, for servers that take that end for the end of the client's interest,
   * as etcd's `Watch` does. Default false.
   */
  readonly keepRequestsOpen?: boolean | undefined
  /**
   * The changes that a mutation announces when it succeeded or its outcome is unknown (it broke off, or ran
   * out of time); `false`: nothing. Default: read off the method.
   */
  readonly invalidates?: InvalidationRule | readonly InvalidationRule[] | false | undefined
  /**
   * States what a mutation changes besides what its result is made of, as names of types; `[]`: nothing, `['*']`:
   * anything. Default: the types of `invalidates`; without both, a result that holds no entity changes everything.
   */
  readonly changes?: readonly string[] | undefined
  /**
   * States of what types the answer is computed besides those that it shows; `[]`: none, `['*']`: any. Default:
   * `live_query.depends_on`.
   */
  readonly dependsOn?: readonly string[] | undefined
}

export interface InvalidationRule {
  /** The type that changed, by its GraphQL name. */
  readonly entityType: string
  /** The kind of change. Default: from the verb in the method's name. */
  readonly operation?: string | undefined
  /**
   * `{id}` or `{user.id}` from the request, `$.id` from the response, as fields have their names in GraphQL. Default: the
   * response's `id` where the response is such an entity, else any entity of the type.
   */
  readonly entityId?: string | undefined
}

/** Options of {@link createGrpcSource}. */
export interface GrpcSourceOptions extends DescriptorOptions, MappingInput, SourceNames {
  /** The name in errors, logs and metrics. */
  readonly name: string
  /** The endpoint of services that have none of their own. Default: `(graphql.service).host`. */
  readonly endpoint?: Endpoint | undefined
  /** Endpoints by full service name. */
  readonly endpoints?: Readonly<Record<string, Endpoint>> | undefined
  /** TLS for endpoints that say nothing themselves. Default: plaintext, but TLS for `https://`. */
  readonly tls?: boolean | TlsOptions | undefined
  /** Keepalive, message sizes, compression, pool. */
  readonly channel?: ChannelOptions | undefined
  /**
   * Which methods without `graphql.schema` are fields, by their names and shapes. Default `annotated`: none.
   * `all`: those of the services that the named files define, not of what they import (a set that protoc wrote does
   * not tell them apart). Or patterns of services and methods: `['shop.v1.*', '!shop.v1.Admin']`.
   */
  readonly expose?: Expose | undefined
  /** Settings by `package.Service.Method`. */
  readonly methods?: Readonly<Record<string, MethodOptions>> | undefined
  /** Fields of types, of this or any other source, that an RPC resolves. */
  readonly joins?: readonly JoinOptions[] | undefined
  /** Milliseconds from the start of the operation by which calls must be done; 0: no limit. Default 15000. Streams have none unless the method sets one. */
  readonly timeoutMs?: number | undefined
  /** How often a query is sent again to a backend that is not there. */
  readonly retry?: RetryOptions | undefined
  /** One RPC for identical calls: within a query (`operation`, default), also across requests in flight with the same metadata (`inflight`), or never. */
  readonly dedupe?: 'operation' | 'inflight' | false | undefined
  /**
   * Names of headers of the client's request to pass on as metadata. Default `authorization`, `x-request-id`,
   * `traceparent`, `tracestate`. What belongs to the connection or to gRPC itself is never passed on.
   */
  readonly forwardHeaders?: readonly string[] | undefined
  /** Metadata of every call, beside `forwardHeaders`. Default: none. */
  readonly metadata?: MetadataOptions | undefined
  /**
   * Answers queries whose fields are all of sources with plans by plans: from the replies' bytes to JSON, without
   * objects in between. Default true. The answers are the same, errors included; operations that a plan does not reach are
   * executed as without plans.
   */
  readonly plans?: boolean | undefined
  /** Told which operations have a plan, and why others have none. Exceptions are ignored. */
  readonly onPlan?: ((event: PlanEvent) => void) | undefined
  /**
   * Members of lists and maps that one reply may have, selected or not: one of two bytes costs as much as one of a hundred. Above it the
   * call fails with `INTERNAL_SERVER_ERROR`. Default 100 000.
   */
  readonly maxResponseItems?: number | undefined
  /** Sends the selected fields in the request's `read_mask` or `field_mask`. Default false. */
  readonly fieldMasks?: boolean | undefined
  /** Serves the schema as an Apollo Federation 2 subgraph. Default false. */
  readonly federation?: boolean | FederationOptions | undefined
  /**
   * The texts of backends that clients see in errors. Default `false`: none; each status has a text of its
   * own beside its code. `'caller'`: messages of statuses whose text is written for who called
   * (`INVALID_ARGUMENT`, `NOT_FOUND`, `ALREADY_EXISTS`, `PERMISSION_DENIED`, `RESOURCE_EXHAUSTED`,
   * `FAILED_PRECONDITION`, `ABORTED`, `OUT_OF_RANGE`, `UNAUTHENTICATED`). `true`: all messages, and decoded
   * `google.rpc` details; for development.
   */
  readonly exposeErrors?: ExposeErrors | undefined
  /** The bus on which mutations are announced. */
  readonly bus?: InvalidationBus | undefined
  /** Told of every call that has ended, with the metadata of its reply: headers and trailers. Exceptions are ignored. */
  readonly onReply?: OnReply | undefined
  /**
   * Names of metadata, headers or trailers of replies, that the answers to queries and mutations carry as HTTP headers;
   * `-bin` ones as base64. They go to the request that a call was made for and to no other: an answer out of a cache, or
   * of a call that another request began, has none; one that has some is `private, no-store`. Default: none.
   * @throws GrpcSourceError at start for names that belong to the connection or the body
   */
  readonly responseHeaders?: readonly string[] | undefined
  /** Told of every call, for metrics and traces. */
  readonly observe?: CallObserver | undefined
  /** Reloads when a proto or descriptor file changes. Default false. */
  readonly watch?: boolean | undefined
  /**
   * The transport that carries calls: `http2` (default), Vinyasa's own, for a tenth of the CPU, or `grpc-js`,
   * which also knows `xds:` targets, `channel.raw` and proxies named by the environment. Or a function that
   * makes one's own.
   */
  readonly transport?: 'http2' | 'grpc-js' | ((endpoint: ResolvedEndpoint) => Transport) | undefined
  readonly clock?: Clock | undefined
  /** A number from 0 to 1. Default `Math.random`. */
  readonly random?: (() => number) | undefined
  readonly logger?: Logger | undefined
}

export interface FederationOptions {
  /** How references are resolved, by type name, as in `joins`; the reference is the parent. Default: a method that takes the key. */
  readonly entities?: Readonly<Record<string, Omit<JoinOptions, 'type' | 'field'>>> | undefined
}
