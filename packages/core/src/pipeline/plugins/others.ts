import { yogasPlugins, type YogasPlugins } from '../../yoga-internals.ts'
import type { Behaviour } from '../behaviour.ts'
import type { Hook } from '../yoga.ts'

/** Steps at which plugins without a behaviour run by their own hooks. */
export const HOOK_NAMES = [
  'onRequest',
  'onRequestParse',
  'onParams',
  'onEnveloped',
  'onParse',
  'onValidate',
  'onContextBuilding',
  'onExecute',
  'onExecutionResult',
  'onResultProcess',
  'onResponse',
] as const

const ENVELOPS: ReadonlySet<string> = new Set(['init', 'parse', 'validate', 'context'])

type HookName = (typeof HOOK_NAMES)[number]

/** Hooks of one plugin without a behaviour. */
export type PluginHooks = Readonly<Partial<Record<HookName, Hook>>>

/** Groups the hooks of all plugins without a behaviour by step, in the order of the plugins. */
export class Others {
  readonly onExecutionResult: readonly Hook[]
  /** Whether a plugin hooks into parsing or validation, so that Envelop parses and validates each document. */
  readonly readsDocuments: boolean
  readonly validates: boolean
  /** Whether a plugin can read the values in documents. */
  readonly seesLiterals: boolean
  /** Whether a plugin builds the context or chooses the schema. */
  readonly buildsContext: boolean
  /** Whether a plugin can read or replace results. */
  readonly seesResults: boolean
  readonly processesResults: boolean
  /** Whether a plugin instruments parsing, validation or context building of Envelop. */
  readonly instruments: boolean

  /** Groups the hooks. `instrumented` lists the steps that plugins instrument. */
  constructor(plugins: readonly PluginHooks[], instrumented: readonly string[] = []) {
    const named = (name: HookName): readonly Hook[] => plugins.flatMap((plugin) => plugin[name] ?? [])
    const has = (...names: readonly HookName[]): boolean => names.some((name) => named(name).length > 0)
    this.onExecutionResult = named('onExecutionResult')
    this.readsDocuments = has('onParse', 'onValidate')
    this.validates = has('onValidate')
    this.seesLiterals = has('onParse', 'onValidate', 'onExecute')
    this.buildsContext = has('onContextBuilding', 'onEnveloped')
    this.processesResults = has('onResultProcess')
    this.seesResults = has('onParams', 'onExecute', 'onExecutionResult', 'onResultProcess')
    this.instruments = instrumented.some((step) => ENVELOPS.has(step))
  }
}

type Plugin = Readonly<Record<string, unknown>>

/** Behaviour of one plugin, or its hooks if it has no behaviour. */
export type PluginStep =
  | { readonly behaviour: Behaviour; readonly hooks?: undefined }
  | { readonly behaviour?: undefined; readonly hooks: PluginHooks }

interface ReadPlugins {
  /** Behaviours and hooks in the order of the plugins. */
  readonly steps: readonly PluginStep[]
  /** Steps that plugins instrument. */
  readonly instrumented: readonly string[]
  /** Yoga's hook that adds headers to responses for requests with an `Origin`. */
  readonly cors: Hook | undefined
}

/** Yoga's plugins that implement options of the server. They are treated as plugins of the user. */
const BY_OPTION: ReadonlySet<string> = new Set<keyof YogasPlugins>([
  'schema',
  'context',
  'allowedRequestHeaders',
  'allowedResponseHeaders',
])

/**
 * Returns the behaviour or the hooks of each plugin of a server. Yoga's own hooks are omitted, because the
 * pipeline does the same.
 */
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
