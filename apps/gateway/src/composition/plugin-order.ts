import type { Plugin } from 'graphql-yoga'
import { mistakeAt } from '../errors.ts'

/** The gateway's own behaviours by the setting of the config that they come from; undefined where it is off. */
export interface OwnBehaviours {
  readonly responseCache: Plugin | undefined
  readonly defer: Plugin | undefined
  readonly liveQuery: Plugin | undefined
}

/**
 * Throws `ConfigError` when the config adds a plugin that the gateway has already: two caches would evict each
 * for itself, and the second `@defer` or `@live` would never see an operation.
 */
export function refuseDoubles(added: readonly Plugin[], own: OwnBehaviours): void {
  for (const [index, plugin] of added.entries()) {
    const { name } = Object((plugin as { readonly behaviour?: unknown }).behaviour) as {
      readonly name?: unknown
    }
    const isDouble = Object.entries(own).some(([setting, is]) => is !== undefined && setting === name)
    if (!isDouble) continue
    throw mistakeAt(
      ['plugins', index],
      `the gateway already adds this plugin because \`${String(name)}\` is on; remove the plugin from plugins, and set its options in \`${String(name)}\``,
    )
  }
}
