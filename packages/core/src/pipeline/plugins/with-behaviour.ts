import type { Plugin } from 'graphql-yoga'
import type { Behaviour } from '../behaviour.ts'
import { hooksOf } from './hooks-of.ts'

export type PluginWithBehaviour = Plugin & { readonly behaviour: Behaviour }

/**
 * Adds a behaviour to a plugin, and the hooks that follow from it.
 * @throws TypeError if the plugin has one of these hooks itself, because the rule would then exist twice
 */
export function withBehaviour<Given extends Plugin>(
  plugin: Given,
  behaviour: Behaviour = {},
): Plugin & Given & { readonly behaviour: Behaviour } {
  const hooks = hooksOf(behaviour)
  for (const name of Object.keys(hooks) as Extract<keyof Plugin, string>[])
    if (plugin[name])
      throw new TypeError(
        `A plugin has the hook ${name} and a behaviour from which ${name} follows. Remove the hook from the plugin.`,
      )
  return Object.assign(hooks, plugin, { behaviour })
}
