import { chosenParser, keyedByHeader, type MaybePromise, parserHooks } from '@vinyasa/core'
import type { Hook } from '@vinyasa/core/pipeline'
import type { HookRequest, YogaInternals } from '../yoga/yoga-5.ts'
import type { CheckSize } from '../http/read-body.ts'

export type RequestParser = (request: HookRequest) => MaybePromise<unknown>

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
