import { randomUUID } from 'node:crypto'
import { systemClock, type Clock } from '@vinyasa/core'
import { createInvalidationBus, createMutationAnnouncer, type VariesBy } from '@vinyasa/invalidation'
import { SourceNamesError, type Source } from '@vinyasa/source-kit'
import type { GraphQLSchema } from 'graphql'
import { createAnnotations, type Annotations } from './contract/annotations.ts'
import { loadDescriptors } from './descriptors/load.ts'
import { createEndpoints, transportOf } from './endpoints.ts'
import { badInputError, GrpcSourceError } from './errors.ts'
import { buildModel, type Model } from './model.ts'
import type { TypedMethod } from './methods/method-runtime.ts'
import { refuseWrongOptions } from './known-options.ts'
import type { GrpcSourceOptions, Logger } from './options.ts'
import { createCaller } from './runtime/call.ts'
import { createCallWatch } from './methods/call-watch.ts'
import { Invoker } from './methods/invoker.ts'
import { type AnswerHead, createReplyHeaders } from './methods/reply-headers.ts'
import { variesByOf, createMetadataSource, toEntries, type MetadataValue } from './runtime/metadata.ts'
import { createOperations } from './methods/operation.ts'
import { createRegistry, type Registry } from '@bufbuild/protobuf'
import { compileProtoText } from './descriptors/proto-text.ts'
import { watch, type FSWatcher } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { WireReader } from './codec/wire-reader.ts'
import { GrpcCallError, type Transport } from '@vinyasa/grpc-transport'
import { describeFailure, FAULTS } from './runtime/faults.ts'

type HealthStatus = 'SERVING' | 'NOT_SERVING' | 'UNKNOWN'

interface EndpointHealth {
  /** `host:port` */
  readonly address: string
  readonly status: HealthStatus
  /** The gRPC status if the endpoint is not serving. */
  readonly reason?: string | undefined
  /** A description of the failure for operators. It can contain addresses, but never the backend's message. */
  readonly detail?: string | undefined
}

interface SourceHealth {
  /** `SERVING` if every endpoint is serving. */
  readonly status: HealthStatus
  readonly endpoints: readonly EndpointHealth[]
}

interface HealthOptions {
  /** Timeout in milliseconds. Default 1000. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** Calls `grpc.health.v1.Health/Check` on each endpoint. A server without this service is serving if it responds. */
async function checkHealth(
  transports: ReadonlyMap<string, Transport>,
  options: HealthOptions = {},
): Promise<SourceHealth> {
  const { timeoutMs = 1_000, signal } = options
  const endpoints = await Promise.all(
    [...transports].map(async ([address, transport]): Promise<EndpointHealth> => {
      try {
        const call = { path: '/grpc.health.v1.Health/Check', metadata: [], timeoutMs, signal }
        return { address, status: readStatus(await transport.unary(call, new Uint8Array())) }
      } catch (error) {
        const ended = error instanceof GrpcCallError ? error.status : undefined
        if (ended && FAULTS[ended].isAlive) return { address, status: 'SERVING' }
        const reason = ended ?? String(error)
        return { address, status: 'NOT_SERVING', reason, detail: describeFailure(error) }
      }
    }),
  )
  const worst = endpoints.find(({ status }) => status !== 'SERVING')
  return { status: worst?.status ?? 'SERVING', endpoints }
}

function readStatus(bytes: Uint8Array): HealthStatus {
  const reader = new WireReader(bytes)
  let status = 0
  while (reader.pos < reader.end) {
    const tag = reader.uint32()
    if (tag === 8) status = reader.int32()
    else reader.skip(tag & 7, tag >>> 3)
  }
  if (status === 1) return 'SERVING'
  return status === 2 ? 'NOT_SERVING' : 'UNKNOWN'
}

/** Long enough for an editor or compiler to finish writing. */
const QUIET_MS = 100

/** Tells of changes of files, also when they are replaced by rename. */
interface FileWatcher {
  /** Watches these files from now on, and no others. */
  set(files: Iterable<string>): void
  close(): void
}

function createFileWatcher(
  clock: Clock,
  onChange: () => void,
  onError: (error: unknown) => void,
): FileWatcher {
  const watchers = new Map<string, FSWatcher>()
  let names = new Map<string, Set<string>>()
  let timer: unknown

  function changed(folder: string, file: string | null): void {
    if (file !== null && !names.get(folder)?.has(file)) return
    clock.clearTimeout(timer)
    timer = clock.setTimeout(onChange, QUIET_MS)
  }

  return {
    set(files) {
      names = new Map()
      for (const file of files) {
        const folder = dirname(resolve(file))
        names.set(folder, (names.get(folder) ?? new Set()).add(basename(file)))
      }
      for (const [folder, watcher] of watchers) {
        if (names.has(folder)) continue
        watcher.close()
        watchers.delete(folder)
      }
      for (const folder of names.keys()) {
        if (watchers.has(folder)) continue
        const watcher = watch(folder, { persistent: false }, (_event, file) => changed(folder, file))
        watcher.on('error', onError)
        watchers.set(folder, watcher)
      }
    },
    close() {
      clock.clearTimeout(timer)
      for (const watcher of watchers.values()) watcher.close()
      watchers.clear()
    },
  }
}

/** The source's own types beside `google.rpc`, for reading error details. */
async function shippedRegistry(own: Registry): Promise<Registry> {
  const { registry: shipped } = await compileProtoText({
    protoFiles: ['google/rpc/status.proto', 'google/rpc/error_details.proto'],
  })
  return createRegistry(shipped, own)
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** Metadata of this call, in addition to the source's metadata. */
  readonly metadata?: Readonly<Record<string, MetadataValue>> | undefined
  /** The GraphQL context of the call. Its headers are forwarded, and its signal cancels the call. */
  readonly context?: unknown
}

/** A set of gRPC services as part of a GraphQL schema. */
export interface GrpcSource {
  readonly name: string
  /** The source's fields and types. `reload()` replaces it. */
  readonly schema: GraphQLSchema
  /** One line for each type or field with another name than in the proto, and for each omitted method. */
  readonly notes: readonly string[]
  /** Paths of the files with the descriptors, including imported files. */
  readonly files: readonly string[]
  /**
   * Calls a method without GraphQL, also if it is not exposed. Request and response have the format of GraphQL arguments and
   * results.
   * @throws GraphQLError with the code of the gRPC status, or BAD_USER_INPUT
   */
  call(method: string, request?: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<unknown>
  /**
   * Calls a method with the types and codecs of generated code: grpc-js definitions that ts-proto generates with
   * `outputServices=grpc-js`.
   */
  call<Request, Response>(
    method: TypedMethod<Request, Response>,
    request: Request,
    options?: CallOptions,
  ): Promise<Response>
  /** The part of a server's schema that `useGrpcSource` adds. */
  readonly contribution: Source
  /**
   * The part of a client's request that affects the results of calls with its context, or undefined. Custom resolvers that make
   * such calls must declare it: `extensions: { variesBy: source.variesBy }`.
   */
  readonly variesBy: VariesBy | undefined
  /** Reads the descriptors again. If this fails, it throws the error and keeps the schema. */
  reload(): Promise<void>
  /** Checks the health of every endpoint. */
  health(options?: HealthOptions): Promise<SourceHealth>
  /** Records the arrival of a client's request, from which the deadlines of its calls are counted. */
  requestArrived(request: object): void
  /** Adds the reply metadata named in `responseHeaders` to the response to a client's request. */
  responding(request: object, response: AnswerHead): void
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Creates a source from descriptors. It connects to a backend on the first call, except for reflection.
 * @throws GrpcSourceError that describes the problem, after all resources are closed
 */
export async function createGrpcSource(options: GrpcSourceOptions): Promise<GrpcSource> {
  refuseWrongOptions(options)
  const { name, dedupe = 'operation', exposeErrors = false, observe, onReply } = options
  const id = `grpc ${name} ${randomUUID()}`
  const { clock = systemClock, random = Math.random, logger = consoleLogger } = options
  const onError = (error: unknown): void => logger.error(`grpc source "${name}"`, error)
  const { bus = createInvalidationBus({ onError }) } = options
  const operations = createOperations(clock)
  const endpoints = createEndpoints(options, await transportOf(options))
  const replyHeaders = options.responseHeaders && createReplyHeaders(options.responseHeaders)
  const invoker = new Invoker({
    caller: createCaller({ clock, random, retry: options.retry }),
    clock,
    operations,
    metadata: createMetadataSource(options),
    dedupe,
    isInTouch: () => bus.isInTouch !== false,
    watch: createCallWatch({
      sourceName: name,
      clock,
      observe,
      onReply: replyHeaders
        ? (reply, site) => {
            replyHeaders.keep(reply, site)
            onReply?.(reply)
          }
        : onReply,
    }),
  })
  const watcher = options.watch
    ? createFileWatcher(clock, () => void current?.reload().catch(onError), onError)
    : undefined
  const announcer = createMutationAnnouncer({ bus, forget: () => invoker.forget(), clock: options.clock })
  let annotations: Annotations | undefined
  let current: CurrentModel | undefined

  async function read(files: Set<string>): Promise<Model> {
    annotations ??= await createAnnotations()
    const descriptors = await loadDescriptors(
      options,
      () => endpoints.main(),
      addressOf(options.endpoint),
      (path) => files.add(path),
      (message) => logger.warn(`grpc source "${name}": ${message}`),
    )
    const errors = { exposeErrors, registry: await shippedRegistry(descriptors.registry) }
    const rest = { annotations, endpoints, invoker, errors, logger, announcer, source: options, sourceId: id }
    return buildModel({ ...descriptors, ...rest })
  }

  async function close(): Promise<void> {
    current?.close()
    watcher?.close()
    invoker.close()
    endpoints.close()
    await announcer.close()
  }

  const opened = await openModel(read, (files) => watcher?.set(files)).catch(async (error: unknown) => {
    await close()
    throw cannotStart(name, error)
  })
  current = opened

  return {
    name,
    get schema() {
      return opened.model.schema
    },
    get files() {
      return opened.files
    },
    get notes() {
      return opened.model.notes
    },
    call: createCall(name, opened),
    // Getters, because `reload()` replaces the model.
    contribution: {
      id,
      onPlan: options.plans === false ? undefined : options.onPlan,
      get schema() {
        return opened.model.schema
      },
      get fields() {
        return opened.model.joins
      },
      onChange: opened.onChange,
    },
    variesBy: variesByOf(name, options),
    reload: opened.reload,
    health: (healthOptions) => checkHealth(endpoints.all(), healthOptions),
    requestArrived: (request) => operations.arrived(request),
    responding: (request, response) => replyHeaders?.addTo(response, request),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** The model of a source, which reloads replace. */
interface CurrentModel {
  readonly model: Model
  /** Paths of the files that it was read from; after a reload that failed, of those that were read last. */
  readonly files: readonly string[]
  /** Calls back after each reload; the returned function ends it. A listener that throws has the reload undone. */
  onChange(listener: () => void): () => void
  reload(): Promise<void>
  close(): void
}

/** Reads the model for the first time. `read` adds to the set whatever files it reads; `onRead` is told of them. */
async function openModel(
  read: (files: Set<string>) => Promise<Model>,
  onRead: (files: ReadonlySet<string>) => void,
): Promise<CurrentModel> {
  const listeners = new Set<() => void>()
  let paths: readonly string[] = []

  async function load(): Promise<Model> {
    const files = new Set<string>()
    const loaded = await read(files)
    paths = [...files]
    onRead(files)
    return loaded
  }

  let model = await load()
  return {
    get model() {
      return model
    },
    get files() {
      return paths
    },
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    async reload() {
      const before = model
      model = await load()
      try {
        for (const listener of listeners) listener()
      } catch (error) {
        model = before
        throw error
      }
    },
    close: () => listeners.clear(),
  }
}

/** Creates a function that calls methods of the current model. */
function createCall(name: string, current: Pick<CurrentModel, 'model'>): GrpcSource['call'] {
  async function call(
    method: string | TypedMethod<unknown, unknown>,
    request: unknown = {},
    callOptions: CallOptions = {},
  ): Promise<unknown> {
    const { signal, metadata, context } = callOptions
    const site = { context, info: undefined, signal, metadata: metadata && toEntries(metadata) }
    const result = current.model.call(method, request, site)
    if (result) return result
    const id = typeof method === 'string' ? method : method.path
    throw badInputError(
      `grpc source "${name}" has no method "${id}"; call a method that the protos of the source define, for example "package.Service.Method"`,
    )
  }
  return call as GrpcSource['call']
}

function cannotStart(name: string, error: unknown): GrpcSourceError {
  if (error instanceof GrpcSourceError) return error
  const isNames = error instanceof SourceNamesError
  const message = `grpc source "${name}" cannot start: ${isNames ? error.message : String(error)}`
  const findings = isNames ? { findings: error.findings } : {}
  return new GrpcSourceError('GRPC_SOURCE_DESCRIPTORS', message, { cause: error, ...findings })
}

function addressOf(endpoint: GrpcSourceOptions['endpoint']): string {
  return typeof endpoint === 'object' ? endpoint.address : (endpoint ?? 'no endpoint')
}

/* oxlint-disable no-console -- the documented default of an injectable logger */
const consoleLogger: Logger = {
  warn: (message) => console.warn(message),
  error: (message, error) => console.error(message, error),
}
/* oxlint-enable no-console */
