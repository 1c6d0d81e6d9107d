import { createChoices } from '../http/remembered-choices.ts'
import type { MaybePromise } from '@vinyasa/base'
import { isYogasOwn } from '@vinyasa/yoga-internals'
import type { Hook, HookRequest } from '../yoga/yoga-5.ts'
import type { CheckSize } from '../http/read-body.ts'

export type RequestParser = (request: HookRequest) => MaybePromise<unknown>

/** What Yoga's own hooks at the head of the list do: they look at the method, and at a POST's content type, alone. */
export interface ParserChoice {
  /** How many hooks it stands for. */
  readonly hooks: number
  parserFor(request: Pick<HookRequest, 'method' | 'headers'>): RequestParser | undefined
  /** Reads the parameters in the target of a GET. */
  readonly target: RequestParser | undefined
  /** Reads an object or a list from a JSON body. */
  readonly json: RequestParser
}

/** Undefined when the hooks are not the ones of this version of Yoga: they run one by one then. */
export function findParserChoice(hooks: readonly Hook[]): ParserChoice | undefined {
  const other = hooks.findIndex((hook) => !isYogasOwn(hook, 'choose a body parser'))
  const own = other === -1 ? hooks : hooks.slice(0, other)

  function choose(method: 'GET' | 'POST', contentType: string): RequestParser | undefined {
    let chosen: RequestParser | undefined
    const get = (name: string): string | null => (name.toLowerCase() === 'content-type' ? contentType : null)
    for (const hook of own) {
      void hook({
        request: { method, headers: { get } },
        setRequestParser(parser: RequestParser) {
          chosen = parser
        },
      })
    }
    return chosen
  }

  function chosenFor(method: 'GET' | 'POST'): RequestParser | undefined {
    try {
      return choose(method, 'application/json')
    } catch {
      return undefined
    }
  }

  const json = chosenFor('POST')
  if (!json) return undefined
  const target = chosenFor('GET')
  const choices = createChoices((contentType) => choose('POST', contentType))
  return {
    hooks: own.length,
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

/** Undefined when the server has no such hook. */
export function findSizeLimit(hooks: readonly Hook[]): SizeLimit | undefined {
  const hook = hooks.find((candidate) => isYogasOwn(candidate, 'limit the body'))
  if (!hook) return undefined
  const checkHeader = (contentLength: string | null): void => {
    void hook({ request: { headers: { get: () => contentLength }, body: null } })
  }
  return { hook, checkHeader, check: (bytes) => checkHeader(String(bytes)) }
}
