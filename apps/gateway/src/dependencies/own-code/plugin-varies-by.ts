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

/** Facts about how results depend on who asks, from plugins of the config. */
export interface PluginVariesBy {
  /** Request headers that plugins say they read. */
  readonly headers: readonly string[]
  /** Why nobody can tell for whom any result is. */
  readonly ofResults: readonly string[]
}

export function pluginVariesBy({ plugins = [] }: Pick<OwnCodeSections, 'plugins'>): PluginVariesBy {
  return {
    headers: plugins.flatMap(({ readsHeaders = [] }) => readsHeaders.map((name) => name.toLowerCase())),
    ofResults: plugins.flatMap((plugin, index) =>
      plugin.readsHeaders === undefined && OF_RESULTS.some((hook) => hook in plugin)
        ? [
            `plugins[${index}] may change results depending on the caller; set readsHeaders on the plugin to the request headers that it reads ([] if none)`,
          ]
        : [],
    ),
  }
}
