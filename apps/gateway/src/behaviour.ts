import type { Behaviour } from '@vinyasa/core/pipeline'
import type { Plugin } from 'graphql-yoga'

export type PluginWithBehaviour = Plugin & { readonly behaviour: Behaviour }

/**
 * The plugin, saying what it does with operations whose document was prepared before; by default nothing, as one that looks
 * at documents, at errors, or at other paths alone.
 */
export function withBehaviour(plugin: Plugin, behaviour: Behaviour = {}): PluginWithBehaviour {
  return Object.assign(plugin, { behaviour })
}
