import { createChoices } from '../http/remembered-choices.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { isYogasOwn } from '@vinyasa/yoga-internals'
import type { Hook, HookRequest } from '../yoga/yoga-5.ts'

export type RequestParser = (request: HookRequest) => MaybePromise<unknown>

/** What Yoga's own hooks at the head of the list do for a POST: they look at its content type alone. */
export interface ParserChoice {
  /** How many hooks it stands for. */
  readonly hooks: number
  parserFor(contentType: string | null): RequestParser | undefined
  /** Reads an object or a list from a JSON body. */
  readonly json: RequestParser
}

/** Undefined when the hooks are not the ones of this version of Yoga: they run one by one then. */
export function findParserChoice(hooks: readonly Hook[]): ParserChoice | undefined {
  const other = hooks.findIndex((hook) => !isYogasOwn(hook, 'choose a body parser'))
  const own = other === -1 ? hooks : hooks.slice(0, other)

  function choose(contentType: string): RequestParser | undefined {
    let chosen: RequestParser | undefined
    const get = (name: string): string | null => (name.toLowerCase() === 'content-type' ? contentType : null)
    for (const hook of own) {
      void hook({
        request: { method: 'POST', headers: { get } },
        setRequestParser(parser: RequestParser) {
          chosen = parser
        },
      })
    }
    return chosen
  }

  function jsonParser(): RequestParser | undefined {
    try {
      return choose('application/json')
    } catch {
      return undefined
    }
  }

  const json = jsonParser()
  if (!json) return undefined
  const choices = createChoices(choose)
  return { hooks: own.length, parserFor: (contentType) => choices(contentType ?? ''), json }
}
