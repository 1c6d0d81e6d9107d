import type { Plugin } from 'graphql-yoga'
import { ConfigError } from '../errors.ts'

/** The gateway's own behaviours by the setting of the config that they come from; undefined where it is off. */
export interface OwnBehaviours {
  readonly responseCache: Plugin | undefined
  readonly defer: Plugin | undefined
  readonly liveQuery: Plugin | undefined
}

/**
 * Throws {@link ConfigError} when the config adds a plugin that the gateway has already: two caches would evict each
 * for itself, and the second `@defer` or `@live` would never see an operation.
 */
export function refuseDoubles(added: readonly Plugin[], own: OwnBehaviours): void {
  for (const [index, plugin] of added.entries()) {
    const double = Object.entries(own).find(([, behaviour]) => isSame(plugin, behaviour))
    if (!double) continue
    throw new ConfigError(
      `plugins[${index}]: the gateway has this plugin already; take it out and set \`${double[0]}\` instead`,
    )
  }
}

/** Plugins are plain objects without a name: those of one factory have one code. */
function isSame(plugin: Plugin, own: Plugin | undefined): boolean {
  return own?.onExecute !== undefined && String(plugin.onExecute) === String(own.onExecute)
}

/**
 * Whether `@defer` must stand before the plugins of the config: one that wraps the executor would be taken for an
 * executor that answers as a whole. Behind the cache otherwise, which answers hits before parse as long as nobody
 * before it looks at the execution.
 */
export function mayWrapExecutor(added: readonly Plugin[]): boolean {
  return added.some((plugin) => plugin.onExecute !== undefined)
}
