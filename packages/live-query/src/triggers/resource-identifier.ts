import type { InvalidationEvent } from '@vinyasa/invalidation'

const ENTITY = /^([_A-Za-z]\w*):(.+)$/s
const FIELD = /^([_A-Za-z]\w*)\.([_A-Za-z]\w*)(\(.*\))?$/s

/**
 * Converts an identifier of `@n1ru4l/in-memory-live-query-store`: `Todo:1`, `Query.todos`, `Query.todos(first:"3")`.
 * Other identifiers match every event.
 */
export function toEvent(identifier: string): InvalidationEvent {
  const [, entityType, entityId] = ENTITY.exec(identifier) ?? []
  if (entityType && entityId) return { entityType, operation: 'update', entityId }
  const [, typeName, field, args] = FIELD.exec(identifier) ?? []
  // An index by arguments can belong to a field below the root, which only the schema can determine.
  if (typeName && field && (!args || typeName === 'Query')) return { entityType: typeName, operation: field }
  return { entityType: '*', operation: '*' }
}
