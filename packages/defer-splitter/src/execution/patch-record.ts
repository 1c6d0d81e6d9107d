import { type GraphQLError, responsePathAsArray } from 'graphql'
import type { DeferredFragment } from '../collect-fields.ts'
import type { Announced, Data, DeferPatch, PathSegment } from '../parts.ts'
import type { ObjectPlace } from './delivery-group.ts'
import type { FragmentUsage } from './fragment-usage.ts'

/**
 * `waiting`: not started. `running`. `done`: has its data, or failed. `sent`. `dropped`: its place turned out null, or
 * nobody wants it.
 */
export type RecordState = 'waiting' | 'running' | 'done' | 'sent' | 'dropped'

/** What is delivered together, and what depends on it. The root record is the first part. */
export interface DeliveryRecord {
  state: RecordState
  readonly fragment: DeferredFragment | undefined
  readonly place: ObjectPlace | undefined
  readonly path: readonly PathSegment[]
  readonly children: DeliveryRecord[]
  /** What the patches of the same directive share; set when it starts. */
  usage: FragmentUsage<DeliveryRecord> | undefined
  data: Data | null
  /** Those at the moment it was done: a field that comes too late may still report one to the group. */
  errors: readonly GraphQLError[]
}

export function createRootRecord(): DeliveryRecord {
  const path: readonly PathSegment[] = []
  return {
    state: 'running',
    fragment: undefined,
    place: undefined,
    path,
    children: [],
    usage: undefined,
    data: null,
    errors: [],
  }
}

export function createPatchRecord(fragment: DeferredFragment, place: ObjectPlace): DeliveryRecord {
  const path = responsePathAsArray(place.path)
  return { state: 'waiting', fragment, place, path, children: [], usage: undefined, data: null, errors: [] }
}

/** Whether the record's place is an object in its parent's data: an error may have taken it away. */
export function isReachable(record: DeliveryRecord, parent: DeliveryRecord): boolean {
  let place: unknown = parent.data
  for (const segment of record.path.slice(parent.path.length)) {
    if (typeof place !== 'object' || place === null) return false
    place = (place as Record<PathSegment, unknown>)[segment]
  }
  return typeof place === 'object' && place !== null
}

export function toPatch({ data, path, fragment, errors }: DeliveryRecord): DeferPatch {
  const patch: DeferPatch = { data, path }
  if (fragment?.label !== undefined) patch.label = fragment.label
  if (errors.length > 0) patch.errors = errors
  return patch
}

export function toAnnounced({ path, fragment }: DeliveryRecord): Announced {
  return fragment?.label === undefined ? { path } : { path, label: fragment.label }
}
