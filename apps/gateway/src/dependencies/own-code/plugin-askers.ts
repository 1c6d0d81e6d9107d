import type { OwnCodeSections } from '../own-code-types.ts'

/** Hooks that may change results, or what is executed: one that sees the schema may wrap its resolvers. */
const OF_RESULTS = [
  'onParse',
  'onValidate',
  'onExecute',
  'onEnveloped',
  'onPluginInit',
  'onSchemaChange',
] as const
/** Hooks that may add to the context what they read of a request. */
const OF_CONTEXT = ['onRequest', 'onRequestParse', 'onParams', 'onContextBuilding'] as const

/** Facts about how results depend on who asks, from plugins of the config. */
export interface PluginAskers {
  /** Request headers that plugins say they read. */
  readonly headers: readonly string[]
  /** Why nobody can tell for whom any result is. */
  readonly ofResults: readonly string[]
  /** Why nobody can tell what resolvers find in their context. */
  readonly ofContexts: readonly string[]
}

export function pluginAskers({ plugins = [] }: Pick<OwnCodeSections, 'plugins'>): PluginAskers {
  const silent = plugins.flatMap((plugin, index) =>
    plugin.readsHeaders === undefined ? [{ plugin, name: `plugins[${index}]` }] : [],
  )
  const reasonsOf = (hooks: readonly string[], does: string): string[] =>
    silent
      .filter(({ plugin }) => hooks.some((hook) => hook in plugin))
      .map(
        ({ name }) =>
          `${name} may ${does}; set readsHeaders on the plugin to the request headers that it reads, [] if none`,
      )
  return {
    headers: plugins.flatMap(({ readsHeaders = [] }) => readsHeaders.map((name) => name.toLowerCase())),
    ofResults: reasonsOf(OF_RESULTS, 'change results by who asks'),
    ofContexts: reasonsOf(OF_CONTEXT, 'tell resolvers who asks'),
  }
}
