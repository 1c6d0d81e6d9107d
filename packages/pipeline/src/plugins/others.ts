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

export type HookName = (typeof HOOK_NAMES)[number]

/** Hooks of one plugin. */
export type PluginHooks = Readonly<Partial<Record<HookName, Hook>>>

/** Hooks of all such plugins of a server, by their step and in the order of the plugins, and what follows from them. */
export class Others {
  readonly onRequest: readonly Hook[]
  readonly onRequestParse: readonly Hook[]
  readonly onParams: readonly Hook[]
  readonly onExecutionResult: readonly Hook[]
  /** Somebody looks at texts or documents, so that each is parsed or validated through Envelop. */
  readonly readsDocuments: boolean
  readonly validates: boolean
  /** Somebody may look at values in documents. */
  readonly seesLiterals: boolean
  /** Somebody builds the context, or chooses the schema. */
  readonly buildsContext: boolean
  /** Somebody may look at, or replace, what an operation comes to. */
  readonly seesResults: boolean
  readonly processesResults: boolean
  readonly #all: ReadonlySet<Hook>

  /** Somebody wraps Envelop's parsing, validation or building of contexts. */
  readonly instruments: boolean

  /** `instrumented`: steps that plugins instrument. */
  constructor(plugins: readonly PluginHooks[], instrumented: readonly string[] = []) {
    const named = (name: HookName): readonly Hook[] => plugins.flatMap((plugin) => plugin[name] ?? [])
    const has = (...names: readonly HookName[]): boolean => names.some((name) => named(name).length > 0)
    this.onRequest = named('onRequest')
    this.onRequestParse = named('onRequestParse')
    this.onParams = named('onParams')
    this.onExecutionResult = named('onExecutionResult')
    this.readsDocuments = has('onParse', 'onValidate')
    this.validates = has('onValidate')
    this.seesLiterals = has('onParse', 'onValidate', 'onExecute')
    this.buildsContext = has('onContextBuilding', 'onEnveloped')
    this.processesResults = has('onResultProcess')
    this.seesResults = has('onParams', 'onExecute', 'onExecutionResult', 'onResultProcess')
    this.instruments = instrumented.some((step) => ENVELOPS.has(step))
    this.#all = new Set(HOOK_NAMES.flatMap(named))
  }

  has(hook: Hook): boolean {
    return this.#all.has(hook)
  }
}
