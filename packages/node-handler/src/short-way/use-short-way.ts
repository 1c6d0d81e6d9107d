import type { ExecutionArgs } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { createKnownShapes, type KnownShapes } from './literals/known-shapes.ts'
import { createKnownBodies, type KnownBodies } from './known-bodies.ts'
import { createKnownOperations, type KnownOperations } from './known-operations.ts'
import { type OwnHooks, readOwnHooks } from '@vinyasa/yoga-internals'
import type { ShortWayPart } from './part.ts'

/** What the execution of an operation has come to. */
export type Executed = { readonly result: unknown } | { readonly error: unknown }

/** What the plugin and the handler of one server share. */
export interface ShortWayState {
  readonly known: KnownOperations
  readonly bodies: KnownBodies
  readonly shapes: KnownShapes | undefined
  /** By the context: what was executed on the short way, for the ordinary one to go on with. */
  readonly executed: WeakMap<object, Executed>
  own: OwnHooks
}

export interface ShortWayPluginOptions {
  /**
   * Takes a query for known that differs from known ones in the numbers and texts of its arguments alone, and executes it
   * with variables in their places: clients that write values into their documents then send no new one each time. For
   * servers none of whose plugins looks at such values in documents. Default false.
   */
  readonly liftLiterals?: boolean | undefined
}

const STATE = Symbol('vinyasa.short-way')

/**
 * Opens the short way: with this plugin, `createNodeHandler` answers a query that has gone through every hook before
 * without going through them again, if all plugins of the server say what they do there (`ShortWayPart`).
 * `shortWayReasons` of the handler tells which do not.
 */
export function useShortWay({ liftLiterals = false }: ShortWayPluginOptions = {}): Plugin {
  const state: ShortWayState = {
    known: createKnownOperations(),
    bodies: createKnownBodies(),
    shapes: liftLiterals ? createKnownShapes() : undefined,
    executed: new WeakMap(),
    own: { plugins: [], has: () => false },
  }
  const plugin: Plugin & { readonly shortWay: ShortWayPart; readonly [STATE]: ShortWayState } = {
    shortWay: {},
    [STATE]: state,
    onYogaInit({ yoga }) {
      state.own = readOwnHooks(yoga)
    },
    onSchemaChange() {
      state.known.clear()
      state.bodies.clear()
      state.shapes?.clear()
    },
    onExecute({ args, setExecuteFn }) {
      const done = state.executed.get((args as ExecutionArgs).contextValue as object)
      if (!done) return
      setExecuteFn(() => {
        if ('error' in done) throw done.error
        return done.result as never
      })
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
