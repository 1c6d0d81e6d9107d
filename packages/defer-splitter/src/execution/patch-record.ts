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

const none: readonly never[] = []

/** What is delivered together, and what depends on it. The root record, without a place, is the first part. */
export class DeliveryRecord implements Announced {
  readonly fragment: DeferredFragment | undefined
  readonly place: ObjectPlace | undefined
  readonly path: readonly PathSegment[]
  state: RecordState = 'waiting'
  children: readonly DeliveryRecord[] = none
  /** What the patches of the same directive share; set when it starts. */
  usage: FragmentUsage<DeliveryRecord> | undefined
  data: Data | null = null
  /** Those at the moment it was done: a field that comes too late may still report one to the group. */
  errors: readonly GraphQLError[] = none

  constructor(fragment?: DeferredFragment, place?: ObjectPlace) {
    this.fragment = fragment
    this.place = place
    this.path = place?.path ? responsePathAsArray(place.path) : none
  }

  get label(): string | undefined {
    return this.fragment?.label
  }

  addChild(child: DeliveryRecord): void {
    if (this.children === none) this.children = [child]
    else (this.children as DeliveryRecord[]).push(child)
  }
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

export function toPatch({ data, path, label, errors }: DeliveryRecord): DeferPatch {
  const patch: DeferPatch = { data, path }
  if (label !== undefined) patch.label = label
  if (errors.length > 0) patch.errors = errors
  return patch
}
