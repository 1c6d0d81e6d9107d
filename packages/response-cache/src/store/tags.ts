import { hash } from 'node:crypto'

/**
 * Strings that say what an entry depends on, and what an invalidation hits:
 * `User` (anything of the type), `User:1` (one entity), `User:?` (an entity whose id the result does
 * not hold), and `*` (a result that names no type: it depends on everything).
 */
export type Tags = readonly string[] | 'all'

/** Carried by results without object types at their root; hit by every invalidation. */
export const anyTag = '*'

/** Clients choose ids. Longer ids are replaced by their hash, because tags are remembered. */
const MAX_ID = 200

export const typeTag = (typename: string): string => typename
export const entityTag = (typename: string, id: string): string =>
  `${typename}:${id.length > MAX_ID ? hash('sha256', id, 'base64url') : id}`
export const unidentifiedTag = (typename: string): string => `${typename}:?`

/** GraphQL names hold no colon, so the first one ends the type. */
export function typeOfTag(tag: string): string {
  const colon = tag.indexOf(':')
  return colon === -1 ? tag : tag.slice(0, colon)
}

/** Something that changed, as mutations, events and purges describe it. */
export interface InvalidationTarget {
  /** GraphQL object type. */
  readonly type: string
  /** Absent: any entity of the type may have changed. */
  readonly id?: string | undefined
}

/**
 * The tags that targets hit. `byEntity` false: entries know only their types, so an id is widened to
 * its type. An unidentified entity could be the one that changed: it is hit as well.
 */
export function tagsOfTargets(targets: readonly InvalidationTarget[], byEntity: boolean): readonly string[] {
  const tags = new Set<string>([anyTag])
  for (const { type, id } of targets) {
    if (id === undefined || !byEntity) {
      tags.add(typeTag(type))
    } else {
      tags.add(entityTag(type, id))
      tags.add(unidentifiedTag(type))
    }
  }
  return [...tags]
}
