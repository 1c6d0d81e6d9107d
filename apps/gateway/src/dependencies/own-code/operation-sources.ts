import { keyed } from '@vinyasa/base'
import type { Asker } from '@vinyasa/invalidation'
import type { PluginWithBehaviour } from '../../behaviour.ts'
import { behindView } from './recorded-context.ts'
import { FOR_CONTEXT } from './sources-for-context.ts'

/** A source of the gateway, as resolvers of the config call it. */
interface Source {
  readonly name: string
  readonly api: object
  /** The member of `api` that calls it. */
  readonly callMember: string
  readonly asker: Asker | undefined
}

type Call = (name: unknown, args?: unknown, scope?: { readonly context?: unknown } | null) => unknown

/**
 * Adds `context.sources`. A call is made on behalf of the operation whose context it is, so that it forwards and ends what the
 * operation does; a scope with another `context` has it made for that one, with `context: null` for nobody.
 */
export function useOperationSources(sources: readonly Source[]): PluginWithBehaviour {
  const sourcesFor = operationSources(sources)
  return {
    onContextBuilding({ context, extendContext }) {
      const added: Readonly<Record<string, unknown>> = { sources: sourcesFor(context) }
      extendContext(added)
    },
    behaviour: {
      context(context) {
        context['sources'] = sourcesFor(context)
      },
    },
  }
}

function operationSources(sources: readonly Source[]): (context: object) => object {
  const byName = new Map(sources.map((source) => [source.name, source]))
  const apis = Object.fromEntries(sources.map(({ name, api }) => [name, api]))

  /** Each is made when it is asked for: most operations ask for none. */
  function sourcesFor(context: object): object {
    const ownOf = keyed((source: Source) => sourceFor(source, context))
    return new Proxy(apis, {
      get(_apis, name) {
        if (name === FOR_CONTEXT) return sourcesFor
        const source = byName.get(name as string)
        return source ? ownOf(source) : (Reflect.get(apis, name) as unknown)
      },
      set: () => false,
    })
  }

  return sourcesFor
}

/**
 * What is called with a view of a context counts as having read all that the source forwards, and the source is given the
 * context itself, to which it holds what an operation shares.
 */
function sourceFor({ api, callMember, asker }: Source, own: object): object {
  const call = (api as Readonly<Record<string, Call>>)[callMember] as Call
  const value: Call = (name, args, scope) => {
    const { context = own } = scope ?? {}
    if (context === null) return call(name, args, { ...scope, context: undefined })
    const behind = behindView(context)
    if (!behind) return call(name, args, { ...scope, context })
    behind.reads.headers(asker?.headers ?? [])
    if (asker?.unknown !== undefined) behind.reads.other(`who asks, through a source: ${asker.unknown}`)
    return call(name, args, { ...scope, context: behind.context })
  }
  return Object.create(api, { [callMember]: { value, enumerable: true } }) as object
}
