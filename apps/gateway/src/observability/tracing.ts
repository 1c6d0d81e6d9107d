import {
  context as contextApi,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import type { Plugin } from 'graphql-yoga'
import { version } from '../version.ts'
import type { BackendCallEnd, ObserveBackendCall } from './backend-call.ts'
import { isLive } from './live-context.ts'
import { errorCodesOf, operationOf } from './operation.ts'
import { recordedPath, recordOf } from './request-record.ts'
import { withShortWay } from '../short-way.ts'

export interface TracingOptions {
  /** Default: the one that is registered with `@opentelemetry/api`. */
  readonly tracerProvider?: TracerProvider | undefined
}

export interface Tracing {
  readonly plugin: Plugin
  readonly observe: ObserveBackendCall
  /** `traceparent` and `tracestate` for a call that is sent for an operation. */
  outgoing(context: unknown): Readonly<Record<string, string>>
}

const OPERATION = Symbol('vinyasa.operation')
const propagator = new W3CTraceContextPropagator()

/**
 * Spans: request → operation → each backend call. They carry names, statuses and codes, and never variables,
 * documents, headers or messages of errors. Contexts are passed by hand, so no async hooks are needed.
 */
export function createTracing({ tracerProvider }: TracingOptions = {}): Tracing {
  const tracer: Tracer = (tracerProvider ?? trace).getTracer('vinyasa', version())
  const requestSpans = new WeakMap<object, Span>()
  const begunOperations = new WeakMap<object, Span>()

  function startOperation(args: {
    readonly document: Parameters<typeof operationOf>[0]
    readonly operationName?: unknown
    readonly contextValue?: unknown
  }): Span {
    const { type, name } = operationOf(args.document, args.operationName)
    const parent = recordOf(args.contextValue)?.trace ?? incoming(headersOf(args.contextValue))
    const span = tracer.startSpan(
      name === undefined ? type : `${type} ${name}`,
      {
        attributes: {
          'graphql.operation.type': type,
          ...(name !== undefined && { 'graphql.operation.name': name }),
          ...(isLive(args.contextValue) && { 'vinyasa.live': true }),
        },
      },
      parent,
    )
    if (typeof args.contextValue === 'object' && args.contextValue !== null) {
      ;(args.contextValue as { [OPERATION]?: Context })[OPERATION] = trace.setSpan(parent, span)
    }
    return span
  }

  function startRequest(request: Request, context: object): void {
    const record = recordOf(context)
    if (!record || requestSpans.has(context)) return
    const path = recordedPath(record, request)
    const parent = incoming(request.headers)
    const span = tracer.startSpan(
      `${request.method} ${path}`,
      { kind: SpanKind.SERVER, attributes: { 'http.request.method': request.method, 'url.path': path } },
      parent,
    )
    requestSpans.set(context, span)
    record.trace = trace.setSpan(parent, span)
  }

  function endRequest({ status }: { readonly status: number }, context: object): void {
    const span = requestSpans.get(context)
    if (!span) return
    span.setAttribute('http.response.status_code', status)
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
    span.end()
  }

  /** The span of one that was executed on the short way, and goes on through the hooks. */
  function begunOperation(context: unknown): Span | undefined {
    return typeof context === 'object' && context !== null ? begunOperations.get(context) : undefined
  }

  return {
    outgoing(context) {
      const carrier: Record<string, string> = {}
      const parent = parentOf(context)
      if (parent) propagator.inject(parent, carrier, { set: (target, key, value) => (target[key] = value) })
      return carrier
    },
    observe({ source, kind, name, context }) {
      const span = tracer.startSpan(
        kind === 'grpc' ? name : `${source}.${name}`,
        { kind: SpanKind.CLIENT, attributes: attributesOf(source, kind, name) },
        parentOf(context) ?? contextApi.active(),
      )
      return (end) => endCall(span, kind, end)
    },
    plugin: withShortWay(
      {
        onRequest({ request, serverContext }) {
          startRequest(request, serverContext)
        },
        onExecute({ args }) {
          const span = begunOperation(args.contextValue) ?? startOperation(args)
          return { onExecuteDone: ({ result }) => endOperation(span, result) }
        },
        onSubscribe({ args }) {
          const span = startOperation(args)
          return {
            onSubscribeResult: ({ result }) => endOperation(span, result),
            onSubscribeError: ({ error }) => endOperation(span, { errors: [error] }),
          }
        },
        onResponse({ response, serverContext }) {
          if (serverContext) endRequest(response, serverContext)
        },
      },
      {
        begin({ request, context }) {
          startRequest(request, context)
        },
        async execute(call, next) {
          const {
            operation: { document, operationName },
            context,
          } = call
          const span = startOperation({ document, operationName, contextValue: context })
          begunOperations.set(context, span)
          const result = await next(call)
          // With errors, the hooks see what came of them.
          if (result && errorCodesOf(result).length === 0) endOperation(span, result)
          return result
        },
        respond({ context }, response) {
          endRequest(response, context)
        },
      },
    ),
  }
}

function parentOf(context: unknown): Context | undefined {
  if (typeof context !== 'object' || context === null) return undefined
  return (context as { [OPERATION]?: Context })[OPERATION] ?? recordOf(context)?.trace
}

function incoming(headers: Headers | undefined): Context {
  if (!headers) return ROOT_CONTEXT
  return propagator.extract(ROOT_CONTEXT, headers, {
    get: (carrier, key) => carrier.get(key) ?? undefined,
    keys: (carrier) => [...carrier.keys()],
  })
}

function headersOf(context: unknown): Headers | undefined {
  const { request } = (context ?? {}) as { request?: Request }
  return request?.headers
}

function endOperation(span: Span, result: unknown): void {
  const codes = [...new Set(errorCodesOf(result))]
  if (codes.length > 0) {
    span.setAttribute('vinyasa.error.codes', codes)
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}

function attributesOf(source: string, kind: 'grpc' | 'rest', name: string): Record<string, string> {
  if (kind === 'rest') return { 'vinyasa.source': source, 'vinyasa.endpoint': name }
  const [service = '', method = ''] = name.split('/')
  return { 'vinyasa.source': source, 'rpc.system': 'grpc', 'rpc.service': service, 'rpc.method': method }
}

function endCall(span: Span, kind: 'grpc' | 'rest', { status, failed, retries }: BackendCallEnd): void {
  span.setAttribute(kind === 'grpc' ? 'rpc.grpc.status' : 'http.response.status', status)
  if (retries > 0) span.setAttribute('vinyasa.retries', retries)
  if (failed) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}
