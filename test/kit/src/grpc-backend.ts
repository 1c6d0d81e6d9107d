import {
  type Metadata,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import { fromJSON, type Options, type PackageDefinition } from '@grpc/proto-loader'
import { bindServer } from './grpc-bind.ts'
import { createCallRunner, type GrpcHandler, type RecordedCall } from './grpc-call.ts'
import { parseProtos, type ProtoFiles } from './protos.ts'

export interface GrpcBackendOptions {
  /** Text of one proto file, or of several by the names they import each other by. */
  readonly protos: string | ProtoFiles
  /** By `package.Service/Method`. A method without a handler answers UNIMPLEMENTED. */
  readonly handlers: Readonly<Record<string, GrpcHandler>>
  /** Conversion of messages; default camelCase names, enums and 64-bit numbers as strings, bytes as Buffer, defaults filled in. */
  readonly loader?: Options
  /** Default 0: a free one. */
  readonly port?: number
  readonly credentials?: ServerCredentials
  /** Adds further services, for example reflection or health, before the server is bound. */
  readonly configure?: (server: Server, definition: PackageDefinition) => void
}

export interface GrpcBackend {
  readonly port: number
  /** `127.0.0.1:<port>` */
  readonly address: string
  /** Every call so far, in order of arrival. */
  readonly calls: readonly RecordedCall[]
  /** Calls of one method, `package.Service/Method`. */
  callsOf(method: string): readonly RecordedCall[]
  /** Replaces or adds a handler from the next call on. */
  handle(method: string, handler: GrpcHandler): void
  /** Ends every connection and stops listening: what a crashed server looks like. */
  stop(): Promise<void>
  /** Listens again on the same port. */
  restart(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts a real gRPC server for the services of a proto text. */
export async function startGrpcBackend(options: GrpcBackendOptions): Promise<GrpcBackend> {
  const { protos, loader = {}, credentials = ServerCredentials.createInsecure(), configure } = options
  const root = await parseProtos(protos)
  const definition = fromJSON(root.toJSON({ keepComments: false }), {
    enums: String,
    longs: String,
    defaults: true,
    arrays: true,
    objects: true,
    oneofs: true,
    ...loader,
  })
  const handlers = new Map(Object.entries(options.handlers))
  const calls: RecordedCall[] = []
  const services = servicesOf(definition)
  const unknown = [...handlers.keys()].filter(
    (name) => !services.some(({ methods }) => methods.includes(name)),
  )
  if (unknown.length > 0) throw new Error(`Handlers for methods that no proto has: ${unknown.join(', ')}`)

  async function start(port: number): Promise<{ server: Server; port: number }> {
    const server = new Server({ 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 })
    for (const { service } of services) server.addService(service, implementationOf(service))
    configure?.(server, definition)
    return { server, port: await bindServer(server, port, credentials) }
  }

  function implementationOf(service: ServiceDefinition): UntypedServiceImplementation {
    const implementation: UntypedServiceImplementation = Object.create(null)
    for (const [key, method] of Object.entries(service)) {
      const name = method.path.slice(1)
      implementation[key] = createCallRunner(method, calls, () => handlers.get(name))
    }
    return implementation
  }

  let { server, port } = await start(options.port ?? 0)
  let stopped = false
  async function stop(): Promise<void> {
    stopped = true
    server.forceShutdown()
  }
  return {
    port,
    address: `127.0.0.1:${port}`,
    calls,
    callsOf: (method) => calls.filter((call) => call.method === method),
    handle: (method, handler) => void handlers.set(method, handler),
    stop,
    async restart() {
      if (!stopped) await stop()
      server = (await start(port)).server
      stopped = false
    },
    [Symbol.asyncDispose]: stop,
  }
}

/** An error that the backend answers with this status; `metadata` becomes trailers. */
export function grpcError(code: status, details: string, metadata?: Metadata): Error {
  return Object.assign(new Error(details), { code, details, ...(metadata ? { metadata } : {}) })
}

interface FoundService {
  readonly service: ServiceDefinition
  readonly methods: readonly string[]
}

function servicesOf(definition: PackageDefinition): FoundService[] {
  const services: FoundService[] = []
  for (const entry of Object.values(definition)) {
    if ('format' in entry) continue
    const service: ServiceDefinition = entry as ServiceDefinition
    services.push({ service, methods: Object.values(service).map(({ path }) => path.slice(1)) })
  }
  return services
}
