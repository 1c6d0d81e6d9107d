import type { DescService } from '@bufbuild/protobuf'
import { type Abortable, signalOf } from '@vinyasa/core'
import type { ServiceAnnotation } from './contract/annotations.ts'
import { GrpcSourceError } from './errors.ts'
import type { GrpcSourceOptions } from './options.ts'
import { asOptionsError, resolveEndpoint } from './runtime/endpoint.ts'
import {
  createHttp2Transport,
  type ResolvedEndpoint,
  type Transport,
  type TransportCall,
} from '@vinyasa/grpc-transport'

/** One transport for each endpoint, made when it is first asked for. They outlive reloads. */
export interface Endpoints {
  /** Finds the transport to where a service listens; undefined when neither options nor protos say. */
  of(
    service: DescService,
    annotation: ServiceAnnotation | undefined,
  ): (() => Transport<Abortable>) | undefined
  /** The transport of `endpoint`, for calls that belong to no service. */
  main(): Transport<Abortable> | undefined
  /** The transport of every endpoint that a method has, by address. */
  all(): ReadonlyMap<string, Transport<Abortable>>
  close(): void
}

/** Makes the transport of one endpoint. */
export type CreateTransport = (endpoint: ResolvedEndpoint) => Transport<Abortable>

/** Returns the maker of the transports that the options ask for; grpc-js is loaded only where it is used. */
export async function transportOf({ transport, random }: GrpcSourceOptions): Promise<CreateTransport> {
  if (typeof transport === 'function') return (endpoint) => withSignals(transport(endpoint))
  if (transport !== 'grpc-js')
    return (endpoint) => asOptionsError(['channel'], () => createHttp2Transport(endpoint, random))
  const { createGrpcJsTransport } = await import('./runtime/grpc-js-transport.ts')
  return createGrpcJsTransport
}

/** One of somebody else's is given true signals. */
function withSignals(transport: Transport): Transport<Abortable> {
  const withSignal = (call: TransportCall<Abortable>): TransportCall => ({
    ...call,
    signal: call.signal && signalOf(call.signal),
  })
  return {
    unary: (call, request) => transport.unary(withSignal(call), request),
    stream: (call, requests) => transport.stream(withSignal(call), requests),
    close: () => transport.close(),
  }
}

export function createEndpoints(options: GrpcSourceOptions, create: CreateTransport): Endpoints {
  const { endpoint, endpoints = {}, tls, channel = {}, transport = 'http2' } = options
  const open = new Map<string, Transport<Abortable>>()
  const used = new Map<string, ResolvedEndpoint>()
  let isClosed = false

  function connect(resolved: ResolvedEndpoint): Transport<Abortable> {
    if (isClosed) throw new GrpcSourceError('GRPC_SOURCE_CLOSED', `grpc source "${options.name}" is closed`)
    const key = `${resolved.tls ? 'tls' : 'plain'} ${resolved.address}`
    let existing = open.get(key)
    if (!existing) open.set(key, (existing = create(resolved)))
    return existing
  }

  function use(resolved: ResolvedEndpoint): () => Transport<Abortable> {
    used.set(resolved.address, resolved)
    // It opens nothing yet, but finds what is wrong with an address or a certificate.
    if (transport === 'http2' && !isClosed) connect(resolved)
    return () => connect(resolved)
  }

  const main = endpoint === undefined ? undefined : resolveEndpoint(['endpoint'], endpoint, tls, channel)
  const configured = new Map(
    Object.entries(endpoints).map(([service, written]) => [
      service,
      resolveEndpoint(['endpoints', service], written, tls, channel),
    ]),
  )
  return {
    of(service, annotation) {
      const own = configured.get(service.typeName) ?? main
      if (own) return use(own)
      if (!annotation?.host) return undefined
      return use(resolveEndpoint([], annotation.host, tls ?? annotation.insecure !== true, channel))
    },
    main: () => (main ? connect(main) : undefined),
    all: () => new Map([...used].map(([address, resolved]) => [address, connect(resolved)])),
    close() {
      isClosed = true
      for (const existing of open.values()) existing.close()
      open.clear()
    },
  }
}

/** Stands in while findings are collected; a model with findings is never used. */
export function neverConnected(): never {
  throw new Error('the service has no endpoint')
}
