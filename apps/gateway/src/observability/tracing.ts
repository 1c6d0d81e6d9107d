import {
  type Attributes,
  context as contextApi,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
  type TextMapSetter,
  type Tracer,
} from '@opentelemetry/api'
import { suppressTracing, W3CTraceContextPropagator } from '@opentelemetry/core'
import { isLiveRun } from '@vinyasa/core'
import type { CallEnded } from '@vinyasa/source-kit'
import { version } from '../version.ts'
import type { BackendCallEnd, CallKind, ObserveBackendCall } from './backend-call.ts'
import { errorCodesOf, type OperationFacts } from './operation.ts'
import type { Observer } from './recorder.ts'
import { recordedPath, recordOf, type RequestRecord, type TracePlace } from './request-record.ts'

export interface Tracing {
  readonly observer: Observer
  readonly observe: ObserveBackendCall
}

const OPERATION = Symbol('vinyasa.operation')
const propagator = new W3CTraceContextPropagator()
const SETTER: TextMapSetter<Record<string, string>> = {
  set: (headers, name, value) => void (headers[name] = value),
}

/**
 * Spans: request → operation → each backend call, which carries the context of its own span. They have names, statuses
 * and codes, and never variables, documents, headers or messages of errors. Contexts are passed by hand, so no async hooks
 * are needed. Where an instrumentation of HTTP has begun a span of the request, there is no second one, and a call's
 * own request gets none of theirs. A request that the sampler drops has no spans below it: most are dropped, and
 * each span costs as much whether it is or not.
 */
export function createTracing(): Tracing {
  const tracer: Tracer = trace.getTracer('vinyasa', version())

  /** Undefined below a request that is not recorded. */
  function startOperation({ type, name }: OperationFacts, context: unknown): Span | undefined {
    const above = recordOf(context)?.trace
    if (above && !above.below) {
      setPlace(context, above)
      return undefined
    }
    const parent = above?.below ?? incoming(headersOf(context))
    const attributes: Attributes = { 'graphql.operation.type': type }
    if (name !== undefined) attributes['graphql.operation.name'] = name
    if (isLiveRun(context)) attributes['vinyasa.live'] = true
    const span = tracer.startSpan(name === undefined ? type : `${type} ${name}`, { attributes }, parent)
    setPlace(context, { span, below: trace.setSpan(parent, span) })
    return span
  }

  function startRequest(record: RequestRecord, request: Request): void {
    const name = `${request.method} ${recordedPath(record, request)}`
    const active = contextApi.active()
    const around = trace.getSpan(active)
    if (around && isOfServer(around)) {
      around.updateName(name)
      record.trace = { span: around, below: around.isRecording() ? active : undefined }
      return
    }
    const path = recordedPath(record, request)
    const parent = around ? active : incoming(request.headers)
    const span = tracer.startSpan(
      name,
      { kind: SpanKind.SERVER, attributes: { 'http.request.method': request.method, 'url.path': path } },
      parent,
    )
    record.trace = { span, below: span.isRecording() ? trace.setSpan(parent, span) : undefined, isOurs: true }
  }

  function endRequest({ trace }: RequestRecord, { status }: { readonly status: number }): void {
    if (!trace?.isOurs) return
    const { span } = trace
    span.setAttribute('http.response.status_code', status)
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
    span.end()
  }

  return {
    observe({ source, kind, name, context }) {
      const place = placeOf(context)
      if (place && !place.below)
        return (place.dropped ??= sending(() => {}, headersFor(ROOT_CONTEXT, place.span)))
      const parent = place?.below ?? contextApi.active()
      const span = tracer.startSpan(
        kind.spanName(source, name),
        { kind: SpanKind.CLIENT, attributes: { 'vinyasa.source': source, ...kind.spanAttributes(name) } },
        parent,
      )
      return sending((end) => endCall(span, kind, end), headersFor(parent, span))
    },
    observer: {
      request: startRequest,
      operation(facts, context) {
        const span = startOperation(facts, context)
        return span && ((result) => endOperation(span, result))
      },
      response: endRequest,
    },
  }
}

function setPlace(context: unknown, place: TracePlace): void {
  if (typeof context === 'object' && context !== null)
    (context as { [OPERATION]?: TracePlace })[OPERATION] = place
}

function placeOf(context: unknown): TracePlace | undefined {
  if (typeof context !== 'object' || context === null) return undefined
  return (context as { [OPERATION]?: TracePlace })[OPERATION] ?? recordOf(context)?.trace
}

function headersFor(parent: Context, span: Span): Record<string, string> {
  const headers: Record<string, string> = {}
  propagator.inject(trace.setSpan(parent, span), headers, SETTER)
  return headers
}

/** A call has one span and one context: instrumentations of what sends it make no others. */
function sending(
  ended: (end: BackendCallEnd) => void,
  headers: Readonly<Record<string, string>>,
): CallEnded<BackendCallEnd> {
  return Object.assign(ended, {
    headers,
    within: <T>(send: () => T): T => contextApi.with(suppressTracing(contextApi.active()), send),
  })
}

/** Spans that are not recorded do not say what they are of; that of a caller elsewhere is none of this process. */
function isOfServer(span: Span): boolean {
  if (!span.isRecording()) return span.spanContext().isRemote !== true
  return (span as { readonly kind?: SpanKind }).kind === SpanKind.SERVER
}

function incoming(headers: Headers | undefined): Context {
  if (!headers?.has('traceparent')) return ROOT_CONTEXT
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
  const codes = errorCodesOf(result)
  if (codes.length > 0) {
    span.setAttribute('vinyasa.error.codes', [...new Set(codes)])
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}

function endCall(
  span: Span,
  { statusAttribute }: CallKind,
  { status, failed, retries }: BackendCallEnd,
): void {
  span.setAttribute(statusAttribute, status)
  if (retries > 0) span.setAttribute('vinyasa.retries', retries)
  if (failed) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}
