import type { CacheControl } from '../document/cache-control.ts'
import type { Version } from './version.ts'

/** The update that one subscriber is sent. Specification: "Live query update"; the names are the wire's. */
export interface LiveQueryUpdate {
  readonly id: string
  readonly data: unknown
  readonly errors?: readonly unknown[]
  readonly extensions?: unknown
  readonly is_initial: boolean
  /** 1, 2, 3 … for each subscription. */
  readonly revision: number
  /** Seconds since the Unix epoch. */
  readonly timestamp: number
  readonly cache_control?: CacheControl
  /** Relative to what this subscriber received last; absent on the first result. */
  readonly changed_fields?: readonly string[]
  /** Present, and true, when the update stands for several events. */
  readonly batched?: true
}

/** An update before it is given a form: who it is for, and the version all share. */
export interface Delivery {
  readonly version: Version
  readonly base: Version | undefined
  readonly revision: number
  readonly batched: boolean
}

export function toUpdate(delivery: Delivery, id: string): LiveQueryUpdate {
  const { version, base, revision, batched } = delivery
  const { data = null, errors, extensions } = version.result
  const changed = base && version.changedSince(base)
  return {
    id,
    is_initial: base === undefined,
    revision,
    timestamp: version.emittedAt,
    ...(batched ? { batched } : {}),
    ...(changed ? { changed_fields: changed.paths } : {}),
    ...(version.cacheControl ? { cache_control: version.cacheControl } : {}),
    data,
    ...(errors ? { errors } : {}),
    ...(extensions === undefined ? {} : { extensions }),
  }
}

/** An update as a result that any GraphQL client reads: what is not `data` or `errors` stands in `extensions.liveQuery`. */
export interface LiveQueryEvent {
  readonly data: unknown
  readonly errors?: readonly unknown[]
  readonly extensions: {
    readonly liveQuery: Omit<LiveQueryUpdate, 'data' | 'errors' | 'extensions'>
    readonly [name: string]: unknown
  }
}

/**
 * For event streams: clients as graphql-sse take a top-level `id` for a protocol of their own. All subscribers share the
 * JSON of the data. A plugin that changes data must therefore replace it, and not write into it.
 */
export function toEvent(delivery: Delivery, id: string): LiveQueryEvent {
  const { data, errors, extensions, ...liveQuery } = toUpdate(delivery, id)
  const rest = { extensions: { ...(extensions as object | undefined), liveQuery } }
  if (errors) return { data, errors, ...rest }
  const { asked } = delivery.version
  function stringify(result: LiveQueryEvent): string {
    const { data: shown, ...others } = result
    if (shown !== data) return JSON.stringify(result)
    const json = JSON.stringify(others)
    return json === '{}' ? `{${asked}}` : `{${asked},${json.slice(1)}`
  }
  // Not enumerable, because a copy of the result can contain other data.
  return Object.defineProperty({ data, ...rest }, 'stringify', { value: stringify })
}

/** The place of the fields of an update beside `data` and `errors`, in the payload of a `next` message. */
export type UpdateFields = 'payload' | 'extensions'

/**
 * Returns what writes the `next` messages of an operation, each in two parts: what is the subscriber's own, and what all
 * subscribers of the group share.
 */
export function nextWriter(
  id: string,
  fields: UpdateFields,
): (delivery: Delivery) => [head: string, shared: Buffer] {
  const idJson = JSON.stringify(id)
  if (fields === 'payload') return (delivery) => [formatHead(delivery, idJson), delivery.version.tail()]
  return (delivery) => {
    const { extensions } = toEvent(delivery, id)
    const head = `{"id":${idJson},"type":"next","payload":{"extensions":${JSON.stringify(extensions)},`
    return [head, delivery.version.askedTail()]
  }
}

function formatHead(delivery: Delivery, idJson: string): string {
  const { version, base, revision, batched } = delivery
  const changed = base && version.changedSince(base)
  let head = `{"id":${idJson},"type":"next","payload":{"id":${idJson},`
  head += `"is_initial":${base === undefined},"revision":${revision},"timestamp":${version.emittedAt},`
  if (batched) head += '"batched":true,'
  if (changed) head += `"changed_fields":${changed.json},`
  if (version.cacheControl) head += `"cache_control":${JSON.stringify(version.cacheControl)},`
  return head
}
