import { yogasPlugins, type YogasPlugins } from '@vinyasa/yoga-internals'
import type { Behaviour } from '../behaviour.ts'
import type { Hook } from '../yoga.ts'
import { HOOK_NAMES, type PluginHooks } from './others.ts'

type Plugin = Readonly<Record<string, unknown>>

/** Behaviour of one plugin, or its hooks if it has no behaviour. */
export type PluginStep =
  | { readonly behaviour: Behaviour; readonly hooks?: undefined }
  | { readonly behaviour?: undefined; readonly hooks: PluginHooks }

export interface ReadPlugins {
  /** In the order of the plugins. */
  readonly steps: readonly PluginStep[]
  /** Steps that plugins instrument. */
  readonly instrumented: readonly string[]
  /** Yoga's hook that adds headers to responses for requests with an `Origin`. */
  readonly cors: Hook | undefined
}

/** Yoga's plugins that do what an option of the server says. */
const BY_OPTION: ReadonlySet<string> = new Set<keyof YogasPlugins>([
  'schema',
  'context',
  'allowedRequestHeaders',
  'allowedResponseHeaders',
])

/** Reads what each plugin of a server does with operations; Yoga's own do what the pipeline does. */
export function readPlugins(given: readonly unknown[]): ReadPlugins {
  const places = Object.entries(yogasPlugins(given))
  const yogas = new Set<unknown>(places.flatMap(([place, plugin]) => (BY_OPTION.has(place) ? [] : [plugin])))
  const plugins = given.filter((plugin) => plugin !== null && typeof plugin === 'object') as Plugin[]
  const steps: PluginStep[] = []
  const instrumented = new Set<string>()
  let cors: Hook | undefined
  for (const plugin of plugins) {
    const { behaviour } = plugin
    if (isBehaviour(behaviour)) {
      steps.push({ behaviour })
      continue
    }
    const hooks: Record<string, Hook> = {}
    for (const name of HOOK_NAMES) {
      const hook = plugin[name]
      if (typeof hook !== 'function') continue
      if (!yogas.has(plugin)) hooks[name] = hook as Hook
      else if (name === 'onResponse') cors = hook as Hook
    }
    if (Object.keys(hooks).length > 0) steps.push({ hooks })
    for (const name of Object.keys(Object(plugin['instrumentation']) as object)) instrumented.add(name)
  }
  return { steps, instrumented: [...instrumented], cors }
}

export function isBehaviour(value: unknown): value is Behaviour {
  return typeof value === 'object' && value !== null
}
