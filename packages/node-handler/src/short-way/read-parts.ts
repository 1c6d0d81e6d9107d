import { yogasOwnPlugins } from '@vinyasa/yoga-internals'
import type { Hook } from '../yoga/yoga-5.ts'
import { HOOK_NAMES, type PluginHooks } from './others/others.ts'
import type { ShortWayPart } from './part.ts'

type Plugin = Readonly<Record<string, unknown>>

/** What one plugin does on the short way: what it says of it, or its hooks. */
export type PluginStep =
  | { readonly part: ShortWayPart; readonly hooks?: undefined }
  | { readonly part?: undefined; readonly hooks: PluginHooks }

export interface FoundParts {
  /** In the order of the plugins. */
  readonly steps: readonly PluginStep[]
  /** Why no request goes the short way. */
  readonly reasons: readonly string[]
  /** Yoga answers pages of other origins with headers of their own. */
  readonly hasCors: boolean
}

/**
 * What each plugin does on the short way. One that has hooks, and neither says what they come to there nor is Yoga's own,
 * runs there by its hooks. One that instruments steps rules the short way out for the whole server: it wraps steps that
 * are left out there.
 */
export function readParts(given: readonly unknown[]): FoundParts {
  const yogas = yogasOwnPlugins(given)
  const plugins = given.filter((plugin) => plugin !== null && typeof plugin === 'object') as Plugin[]
  const steps: PluginStep[] = []
  const reasons = new Set<string>()
  let hasCors = false
  for (const plugin of plugins) {
    const { shortWay } = plugin
    if (shortWay !== null && typeof shortWay === 'object') {
      steps.push({ part: shortWay })
      continue
    }
    const hooks: Record<string, Hook> = {}
    for (const name of HOOK_NAMES) {
      const hook = plugin[name]
      if (typeof hook !== 'function') continue
      if (!yogas.has(plugin)) hooks[name] = hook as Hook
      else if (name === 'onResponse') hasCors = true
    }
    if (Object.keys(hooks).length > 0) steps.push({ hooks })
    for (const name of Object.keys(Object(plugin['instrumentation']) as object))
      reasons.add(`a plugin uses instrumentation.${name}`)
  }
  return { steps, reasons: [...reasons], hasCors }
}
