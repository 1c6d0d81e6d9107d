import { createChoices } from '../http/remembered-choices.ts'
import { type MaybePromise, chosenParser, parserHooks } from '@vinyasa/core'
import type { Hook } from '@vinyasa/core/pipeline'
import type { HookRequest, YogaInternals } from '../yoga/yoga-5.ts'
import type { CheckSize } from '../http/read-body.ts'

export type RequestParser = (request: HookRequest) => MaybePromise<unknown>

/** The choice of Yoga's first hooks, which look at nothing but the method and a POST's content type. */
export interface ParserChoice {
  /** The hooks that it stands for. */
  readonly hooks: ReadonlySet<unknown>
  parserFor(request: Pick<HookRequest, 'method' | 'headers'>): RequestParser | undefined
  /** Reads the parameters in the target of a GET. */
  readonly target: RequestParser | undefined
  /** Reads an object or a list from a JSON body. */
  readonly json: RequestParser
}

/** Undefined when this version of Yoga is built differently: the hooks run one by one then. */
export function findParserChoice({ own }: Pick<YogaInternals, 'own'>): ParserChoice | undefined {
  const hooks = parserHooks(own)
  const json = chosenParser(hooks, 'POST', 'application/json')
  if (!json) return undefined
  const target = chosenParser(hooks, 'GET', 'application/json')
  const choices = createChoices((contentType) => chosenParser(hooks, 'POST', contentType))
  return {
    hooks: new Set<unknown>(hooks),
    parserFor: ({ method, headers }) =>
      method === 'GET' ? target : choices(headers.get('content-type') ?? ''),
    target,
    json,
  }
}

/**
 * Yoga limits the size of a body by sending it through a TransformStream: most of what a small request costs.
 * The hook that does so refuses by Content-Length first, without a stream; asked with the number of bytes that have
 * arrived, it says the same of a body that announced none.
 */
export interface SizeLimit {
  readonly hook: Hook
  /** Throws what Yoga throws for this Content-Length. */
  checkHeader(contentLength: string | null): void
  readonly check: CheckSize
}

/**
 * Undefined when the server has no such hook. One that does not refuse the largest length is none either, lest a version
 * of Yoga with another order lose its limit.
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
