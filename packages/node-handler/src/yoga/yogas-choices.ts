import {
  after,
  chosenParser,
  isAsyncIterable,
  keyedByHeader,
  type MaybePromise,
  parserHooks,
} from '@vinyasa/core'
import type { FetchAPI } from 'graphql-yoga'
import { type Hook, runHooks } from '@vinyasa/core/pipeline'
import type { ExecutionResult } from 'graphql'
import type { HookRequest, ServerContext, YogaInternals } from './yoga-5.ts'
import type { CheckSize } from '../http/body.ts'
import type { CreateLightResponse } from '../http/light-response.ts'

type ResultProcessor = (result: unknown, fetchAPI: FetchAPI, mediaType: string) => MaybePromise<Response>

/** The serialization of a complete result for an `Accept` header. */
interface Written {
  readonly processor: ResultProcessor
  readonly mediaType: string
  readonly acceptable: readonly string[]
}

/** The part of the payload of `onResultProcess` that the choice reads. */
interface AcceptPayload {
  readonly request: Request
  readonly result: unknown
  readonly acceptableMediaTypes: string[]
  setResultProcessor(processor: ResultProcessor, mediaType: string): void
}

/** The choice of Yoga's hook for media types, for results that are not streams. */
interface AcceptChoice {
  readonly hook: Hook
  /** Serializes a complete result as JSON. */
  readonly whole: ResultProcessor | undefined
  /**
   * Returns the media type of a complete result for an `Accept` header. Returns `undefined` if Yoga does not serialize
   * it as JSON.
   */
  mediaTypeOf(accept: string): string | undefined
  /** Returns false, without any effect, if the hook must run. */
  apply(payload: AcceptPayload): boolean
}

/** Returns `undefined` for versions of Yoga with different internals. */
export function findAcceptChoice({ own }: Pick<YogaInternals, 'own'>): AcceptChoice | undefined {
  const hook = own.resultProcessors?.['onResultProcess'] as Hook | undefined
  if (!hook) return undefined

  function ask(accept: string): Written | undefined {
    const acceptable: string[] = []
    let written: Written | undefined
    void hook?.({
      request: { headers: { get: () => accept || null } },
      result: {},
      acceptableMediaTypes: acceptable,
      setResultProcessor(processor: ResultProcessor, mediaType: string) {
        written = { processor, mediaType, acceptable }
      },
    } as unknown as AcceptPayload)
    return written
  }

  const whole = ask('application/json')?.processor
  // The processor of a stream also depends on the operation type.
  const choices = keyedByHeader((accept) => {
    const written = ask(accept)
    return written?.processor === whole ? written : undefined
  })
  return {
    hook,
    whole,
    mediaTypeOf: (accept) => choices(accept)?.mediaType,
    apply({ request, result, acceptableMediaTypes, setResultProcessor }) {
      if (isAsyncIterable(result)) return false
      const written = choices(request.headers.get('accept') ?? '')
      if (!written) return false
      acceptableMediaTypes.push(...written.acceptable)
      setResultProcessor(written.processor, written.mediaType)
      return true
    },
  }
}

type RequestParser = (request: HookRequest) => MaybePromise<unknown>

/**
 * The choice of Yoga's hooks for body parsers. These hooks read only the method and, for a `POST`, the content type.
 */
export interface ParserChoice {
  /** The hooks that this choice replaces. */
  readonly hooks: ReadonlySet<unknown>
  parserFor(request: Pick<HookRequest, 'method' | 'headers'>): RequestParser | undefined
  /** Reads the parameters in the target of a `GET` request. */
  readonly target: RequestParser | undefined
  /** Reads an object or a list from a JSON body. */
  readonly json: RequestParser
}

/** Returns `undefined` for versions of Yoga with different internals. The hooks then run individually. */
export function findParserChoice({ own }: Pick<YogaInternals, 'own'>): ParserChoice | undefined {
  const hooks = parserHooks(own)
  const json = chosenParser(hooks, 'POST', 'application/json')
  if (!json) return undefined
  const target = chosenParser(hooks, 'GET', 'application/json')
  const choices = keyedByHeader((contentType) => chosenParser(hooks, 'POST', contentType))
  return {
    hooks: new Set<unknown>(hooks),
    parserFor: ({ method, headers }) =>
      method === 'GET' ? target : choices(headers.get('content-type') ?? ''),
    target,
    json,
  }
}

/**
 * Yoga limits the size of a body by piping it through a TransformStream, which dominates the cost of a small request.
 * Yoga's hook first checks the Content-Length, without a stream. For a body without a Content-Length, the hook is
 * called with the number of received bytes.
 */
export interface SizeLimit {
  readonly hook: Hook
  /** Throws the same error as Yoga for this Content-Length. */
  checkHeader(contentLength: string | null): void
  readonly check: CheckSize
}

/**
 * Returns `undefined` if the server has no such hook. The hook must also refuse the largest length. Otherwise, a
 * version of Yoga with another plugin order could lose its limit.
 */
export function findSizeLimit({ own }: Pick<YogaInternals, 'own'>): SizeLimit | undefined {
  const hook = own.bodyLimit?.['onRequestParse'] as Hook | undefined
  if (!hook) return undefined
  const checkHeader = (contentLength: string | null): void => {
    void hook({ request: { headers: { get: () => contentLength }, body: null } })
  }
  if (!refuses(() => checkHeader(String(Number.MAX_SAFE_INTEGER)))) return undefined
  return { hook, checkHeader, check: (bytes) => checkHeader(String(bytes)) }
}

function refuses(ask: () => void): boolean {
  try {
    ask()
    return false
  } catch (error) {
    return Object(Object(Object(error).extensions).http).status === 413
  }
}

export type ProcessResult = (
  result: unknown,
  request: HookRequest,
  serverContext: ServerContext,
) => MaybePromise<Response>

interface ResultPayload extends AcceptPayload {
  result: unknown
  setResult(result: unknown): void
  resultProcessor: ResultProcessor | undefined
  readonly serverContext: ServerContext
}

/** Runs `onResultProcess` and the processor that the hooks chose for the `Accept` header. */
export function createProcessResult(
  internals: YogaInternals,
  createResponse: CreateLightResponse,
): ProcessResult {
  const { fetchAPI, onResultProcess } = internals
  const choice = findAcceptChoice(internals)
  const choose: Hook = (payload) =>
    choice?.apply(payload as ResultPayload) ? undefined : choice?.hook(payload)
  const hooks = onResultProcess.map((hook) => (hook === choice?.hook ? choose : hook))

  function finish({ resultProcessor, result, acceptableMediaTypes }: ResultPayload, mediaType: string) {
    if (!resultProcessor) {
      return new fetchAPI.Response(null, {
        status: 406,
        statusText: 'Not Acceptable',
        headers: { accept: acceptableMediaTypes.join('; charset=utf-8, ') },
      })
    }
    if (resultProcessor !== choice?.whole) return resultProcessor(result, fetchAPI, mediaType)
    if (isPlain(result)) return write(result, mediaType)
    return withoutStacks(() => resultProcessor(result, fetchAPI, mediaType))
  }

  /** Serializes a result without a status or headers in the same way as Yoga's processor. */
  function write(result: PlainResult, mediaType: string): Response {
    // Yoga calls the function without `this`, too.
    const { stringify = JSON.stringify } = result
    const body = stringify(result)
    if (isBody(body)) return createResponse(body, mediaType)
    const headers = { 'Content-Type': `${mediaType}; charset=utf-8` }
    return new fetchAPI.Response(body, { status: 200, headers })
  }

  return function process(given, request, serverContext) {
    let mediaType = '*/*'
    const payload: ResultPayload = {
      request,
      acceptableMediaTypes: [],
      result: given,
      setResult(result) {
        payload.result = result
      },
      resultProcessor: undefined,
      setResultProcessor(processor, acceptedMediaType) {
        payload.resultProcessor = processor
        mediaType = acceptedMediaType
      },
      serverContext,
    }
    return after(runHooks(hooks, payload), () => finish(payload, mediaType))
  }
}

/**
 * Runs a function without stack traces. Yoga's processor copies each error, and the stack traces of the copies cost
 * more than the rest of a small response. Thrown errors are thrown again with a stack trace.
 */
function withoutStacks<Value>(run: () => Value): Value {
  const { stackTraceLimit } = Error
  try {
    Error.stackTraceLimit = 0
    return run()
  } catch {
    Error.stackTraceLimit = stackTraceLimit
    return run()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

export interface PlainResult extends ExecutionResult {
  readonly stringify?: (result: unknown) => string
}

/** Returns whether a value is a complete result with status 200 that Yoga serializes without changes. */
export function isPlain(result: unknown): result is PlainResult {
  if (result === null || typeof result !== 'object' || Array.isArray(result)) return false
  if (Symbol.asyncIterator in result) return false
  const { errors, extensions } = result as ExecutionResult
  return !errors?.length && !extensions?.['http']
}

/** A cached response returns bytes, although Yoga's types declare a string. */
export function isBody(body: unknown): body is string | Uint8Array {
  return typeof body === 'string' ? body !== '' : body instanceof Uint8Array && body.byteLength > 0
}
