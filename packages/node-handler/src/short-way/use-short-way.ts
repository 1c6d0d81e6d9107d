import type { Plugin } from 'graphql-yoga'
import { createKnownShapes, type KnownShapes } from './literals/known-shapes.ts'
import { createKnownBodies, type KnownBodies } from './known/known-bodies.ts'
import { createKnownOperations, type KnownOperations } from './known/known-operations.ts'
import type { ShortWayPart } from './part.ts'

/** What the plugin and the handler of one server share. */
export interface ShortWayState {
  readonly known: KnownOperations
  readonly bodies: KnownBodies
  readonly shapes: KnownShapes | undefined
}

export interface ShortWayPluginOptions {
  /**
   * Takes a query for known that differs from known ones in the numbers and texts of its arguments alone, and executes it
   * with variables in their places: clients that write values into their documents then send no new one each time. Where a
   * plugin without `shortWay` hooks into parsing, validation or execution nothing is lifted: it may look at values in
   * documents. For servers none of whose other plugins does. Default false.
   */
  readonly liftLiterals?: boolean | undefined
}

const STATE = Symbol('vinyasa.short-way')

/**
 * Opens the short way: with this plugin, `createNodeHandler` answers a query that has gone through every hook before
 * without parsing and validating it again, where nobody looks at that. Plugins that say what they do there
 * (`ShortWayPart`) do that; all others are called by their hooks, as ever. `shortWayReasons` of the handler tells what
 * rules it out.
 */
export function useShortWay({ liftLiterals = false }: ShortWayPluginOptions = {}): Plugin {
  const state: ShortWayState = {
    known: createKnownOperations(),
    bodies: createKnownBodies(),
    shapes: liftLiterals ? createKnownShapes() : undefined,
  }
  const plugin: Plugin & { readonly shortWay: ShortWayPart; readonly [STATE]: ShortWayState } = {
    shortWay: {},
    [STATE]: state,
    onSchemaChange() {
      state.known.clear()
      state.bodies.clear()
      state.shapes?.clear()
    },
  }
  return plugin
}

export function shortWayStateOf(plugins: readonly unknown[]): ShortWayState | undefined {
  for (const plugin of plugins) {
    const state = (Object(plugin) as { readonly [STATE]?: ShortWayState })[STATE]
    if (state) return state
  }
  return undefined
}
