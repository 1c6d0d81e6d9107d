import type { InvalidationEvent } from '@vinyasa/invalidation'

const ENTITY = /^([_A-Za-z]\w*):(.+)$/s
const FIELD = /^([_A-Za-z]\w*)\.([_A-Za-z]\w*)(\(.*\))?$/s

/**
 * Returns what an identifier of `@n1ru4l/in-memory-live-query-store` says: `Todo:1`, `Query.todos`,
 * `Query.todos(first:"3")`. One of another make may mean anything.
 */
export function toEvent(identifier: string): InvalidationEvent {
  const [, entityType, entityId] = ENTITY.exec(identifier) ?? []
  if (entityType && entityId) return { entityType, operation: 'update', entityId }
  const [, typeName, field, args] = FIELD.exec(identifier) ?? []
  // An index by arguments may be of a field below the root, which only the schema could tell.
  if (typeName && field && (!args || typeName === 'Query')) return { entityType: typeName, operation: field }
  return { entityType: '*', operation: '*' }
}
