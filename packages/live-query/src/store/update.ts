import type { CacheControl } from '../document/live-plan.ts'
import type { Version } from './version.ts'

/** The update for one subscriber. Specification: "Live query update". The names are those of the wire format. */
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
  /** Changes since the last update of this subscriber. Missing in the first result. */
  readonly changed_fields?: readonly string[]
  /** `true` if the update covers several events. Otherwise missing. */
  readonly batched?: true
}

/** An update before serialization: the data of the subscriber, and the version that subscribers share. */
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

/** An update as a regular GraphQL result. The other fields of the update are in `extensions.liveQuery`. */
export interface LiveQueryEvent {
  readonly data: unknown
  readonly errors?: readonly unknown[]
  readonly extensions: {
    readonly liveQuery: Omit<LiveQueryUpdate, 'data' | 'errors' | 'extensions'>
    readonly [name: string]: unknown
  }
}

/**
 * Returns the event of a stream. It has no top-level `id`, because clients such as graphql-sse interpret it as part of
 * another protocol. All subscribers share the JSON of the data. A plugin that changes data must therefore replace it,
 * and not write into it.
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

/** The position of the fields of an update other than `data` and `errors` in a `next` message. */
export type UpdateFields = 'payload' | 'extensions'

/**
 * Returns a function that serializes the `next` messages of an operation in two parts: the part of the subscriber, and
 * the part that all subscribers of the group share.
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
