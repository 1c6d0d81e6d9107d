import type { Source } from '../../sources/source.ts'
import { behindView } from './recorded-context.ts'

type Call = (name: unknown, args?: unknown, scope?: unknown) => unknown

/**
 * `context.sources`: what is called with a resolver's context counts as having read all that the source forwards, and the
 * source is given the context itself, to which it holds what an operation shares.
 */
export function recordedSources(sources: readonly Source[]): Readonly<Record<string, object>> {
  return Object.fromEntries(sources.map((source) => [source.name, recordedSource(source)]))
}

function recordedSource({ api, callMember, asker }: Source): object {
  const call = (api as Readonly<Record<string, Call>>)[callMember] as Call
  const value: Call = (name, args, scope) => {
    const given = (scope as { readonly context?: unknown } | undefined)?.context
    const behind = behindView(given)
    if (!behind) return call(name, args, scope)
    behind.reads.headers(asker?.headers ?? [])
    if (asker?.unknown !== undefined) behind.reads.other(`who asks, through a source: ${asker.unknown}`)
    return call(name, args, { ...(scope as object), context: behind.context })
  }
  return Object.create(api, { [callMember]: { value, enumerable: true } }) as object
}
