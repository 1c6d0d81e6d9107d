import type { ShortWayPart } from '@vinyasa/node-handler'
import type { Plugin } from 'graphql-yoga'

export type PluginWithShortWay = Plugin & { readonly shortWay: ShortWayPart }

/**
 * The plugin, saying what it does for queries that went through all hooks before; by default nothing, as one that looks
 * at documents, at errors, or at other paths alone.
 */
export function withShortWay(plugin: Plugin, shortWay: ShortWayPart = {}): PluginWithShortWay {
  return Object.assign(plugin, { shortWay })
}

/** Adds the same to every context. */
export function useStaticContext(added: Readonly<Record<string, unknown>>): PluginWithShortWay {
  return {
    onContextBuilding({ extendContext }) {
      extendContext(added)
    },
    shortWay: {
      begin({ context }) {
        Object.assign(context, added)
      },
    },
  }
}
