import type { OwnHooks } from '@vinyasa/yoga-internals'
import type { ShortWayPart } from './part.ts'

type Plugin = Readonly<Record<string, unknown>>

/** Hooks that no request goes through. */
const OF_THE_SERVER: ReadonlySet<string> = new Set([
  'onPluginInit',
  'onYogaInit',
  'onSchemaChange',
  'onDispose',
])

export interface FoundParts {
  /** In the order of the plugins. */
  readonly parts: readonly ShortWayPart[]
  /** Why no request goes the short way. */
  readonly reasons: readonly string[]
  /** Yoga answers pages of other origins with headers of their own. */
  readonly hasCors: boolean
}

/**
 * What each plugin does on the short way. One that has hooks, and neither says what they come to there nor is Yoga's
 * own, rules it out for the whole server.
 */
export function readParts(given: readonly unknown[], own: OwnHooks): FoundParts {
  const plugins = given.filter((plugin) => plugin !== null && typeof plugin === 'object') as Plugin[]
  const parts: ShortWayPart[] = []
  const reasons = new Set<string>()
  let hasCors = false
  for (const plugin of plugins) {
    const { shortWay } = plugin
    if (shortWay !== null && typeof shortWay === 'object') {
      parts.push(shortWay)
      continue
    }
    for (const name of hooksOf(plugin)) {
      if (!own.has(plugin[name])) reasons.add(`a plugin uses ${name} and has no \`shortWay\``)
      else if (name === 'onResponse') hasCors = true
    }
    for (const name of Object.keys(Object(plugin['instrumentation']) as object))
      reasons.add(`a plugin uses instrumentation.${name}`)
  }
  return { parts, reasons: [...reasons], hasCors }
}

function hooksOf(plugin: Plugin): string[] {
  return Object.keys(plugin).filter(
    (key) => /^on[A-Z]/.test(key) && typeof plugin[key] === 'function' && !OF_THE_SERVER.has(key),
  )
}
