import { hash } from 'node:crypto'

/**
 * Strings for the dependencies of an entry and for invalidations: `User` (anything of the type), `User:1` (one entity),
 * `User:?` (an entity whose id is not in the result), and `*` (a result without types, which depends on everything).
 */
export type Tags = readonly string[] | 'all'

/** The tag of results without object types at their root. Every invalidation affects it. */
export const anyTag = '*'

/** Clients choose ids. Longer ids are replaced by their hash, because tags are remembered. */
const MAX_ID = 200

export const typeTag = (typename: string): string => typename
export const entityTag = (typename: string, id: string): string =>
  `${typename}:${id.length > MAX_ID ? hash('sha256', id, 'base64url') : id}`
export const unidentifiedTag = (typename: string): string => `${typename}:?`

/** GraphQL names contain no colon, so the type ends at the first colon. */
export function typeOfTag(tag: string): string {
  const colon = tag.indexOf(':')
  return colon === -1 ? tag : tag.slice(0, colon)
}

/** A change, as reported by mutations, events and purges. */
export interface InvalidationTarget {
  /** The GraphQL object type. */
  readonly type: string
  /** The id. `undefined` means that any entity of the type can have changed. */
  readonly id?: string | undefined
}

/**
 * Returns the tags that the targets affect. If `byEntity` is false, entries have only types, so an id is replaced by
 * its type. Entities with an unknown id are affected as well.
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
