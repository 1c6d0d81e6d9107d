import { createChoices } from './choices.ts'
import { isYogasOwn } from './yogas-own.ts'
import type { Hook } from './yoga-internals.ts'

/** What Yoga's own hooks at the head of the list do for a POST: they look at its content type alone. */
export interface ParserChoice {
  /** How many hooks it stands for. */
  readonly hooks: number
  parserFor(contentType: string | null): unknown
}

/** Undefined when the hooks are not the ones of this version of Yoga: they run one by one then. */
export function findParserChoice(hooks: readonly Hook[]): ParserChoice | undefined {
  const other = hooks.findIndex(
    (hook) => !isYogasOwn(hook, 'matchFn(request)', 'setRequestParser(options.parse)'),
  )
  const own = other === -1 ? hooks : hooks.slice(0, other)

  function choose(contentType: string): unknown {
    let chosen: unknown
    const get = (name: string): string | null => (name.toLowerCase() === 'content-type' ? contentType : null)
    for (const hook of own) {
      void hook({
        request: { method: 'POST', headers: { get } },
        setRequestParser(parser: unknown) {
          chosen = parser
        },
      })
    }
    return chosen
  }

  try {
    if (typeof choose('application/json') !== 'function') return undefined
  } catch {
    return undefined
  }
  const choices = createChoices(choose)
  return { hooks: own.length, parserFor: (contentType) => choices(contentType ?? '') }
}
