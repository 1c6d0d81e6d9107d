import type { InvalidationEvent, MutationOutcome } from '@vinyasa/invalidation'
import {
  getNamedType,
  getNullableType,
  GraphQLError,
  isListType,
  isObjectType,
  type GraphQLOutputType,
} from 'graphql'
import type { ExposedMethod } from '../contract/methods.ts'
import { GrpcCallError, type StatusName } from '../runtime/status.ts'

/** What a mutation tells the bus that succeeded, or of which nobody knows (then without a result). */
export type Announcement = (
  args: Readonly<Record<string, unknown>>,
  result: unknown,
) => readonly InvalidationEvent[]

const VERBS: readonly (readonly [RegExp, string])[] = [
  [/^([Cc]reate|[Aa]dd|[Ii]nsert)(?![a-z])/, 'create'],
  [/^([Uu]pdate|[Ss]et|[Pp]atch|[Ee]dit|[Uu]psert)(?![a-z])/, 'update'],
  [/^([Dd]elete|[Rr]emove)(?![a-z])/, 'delete'],
]

/** `create`, `update` or `delete`, by the verb that a name begins with. */
export function operationOf(methodName: string): string {
  return VERBS.find(([verb]) => verb.test(methodName))?.[1] ?? 'update'
}

/** Reads off a mutation what it changes, unless its settings say so. */
export function createAnnouncement(
  method: ExposedMethod,
  type: GraphQLOutputType,
  isEntity: (typeName: string) => boolean,
): Announcement | undefined {
  const { invalidates } = method.settings
  if (invalidates === false) return undefined
  const operation = operationOf(method.desc.name)
  const rules =
    invalidates === undefined ? [{ entityType: entityTypeOf(method, type, isEntity) }] : [invalidates].flat()
  return (args, result) =>
    rules.map((rule) => ({
      entityType: rule.entityType,
      operation: rule.operation ?? operation,
      entityId: idOf(result, rule.idField ?? 'id') ?? idOf(args, rule.idField ?? 'id'),
    }))
}

/**
 * The returned type when it is an entity; the one entity inside it when it wraps one;
 * else what the method's name says: `DeleteUser` changes `User`.
 */
function entityTypeOf(
  method: ExposedMethod,
  type: GraphQLOutputType,
  isEntity: (typeName: string) => boolean,
): string {
  const named = getNamedType(type)
  const noun = method.desc.name.replace(/^[A-Z][a-z]+(?=[A-Z])/, '')
  const isWrapper = isObjectType(named) && /(Response|Reply|Result|Payload)$/.test(named.name)
  if (isObjectType(named) && !isWrapper) return named.name
  if (isObjectType(named)) {
    const inner = Object.values(named.getFields())
      .map((field) => getNullableType(field.type))
      .map((fieldType) => getNamedType(isListType(fieldType) ? fieldType.ofType : fieldType))
      .filter(isObjectType)
    if (inner.length === 1 && inner[0]) return inner[0].name
  }
  return isEntity(noun) || !isObjectType(named) ? noun : named.name
}

function idOf(value: unknown, field: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const record = value as Readonly<Record<string, unknown>>
  const id = record[field]
  if (typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint') return String(id)
  // One level down: `{ input: { id } }` and `{ user: { id } }`.
  const nested = Object.values(record).filter(
    (item) => typeof item === 'object' && item !== null && !Array.isArray(item) && field in item,
  )
  return nested.length === 1 ? idOf(nested[0], field) : undefined
}

/** What each status says of a call that was sent: refusals are the service's own word that it did nothing. */
const OUTCOMES: Readonly<Record<StatusName, MutationOutcome>> = {
  OK: 'unknown',
  CANCELLED: 'unknown',
  UNKNOWN: 'unknown',
  INVALID_ARGUMENT: 'refused',
  DEADLINE_EXCEEDED: 'unknown',
  NOT_FOUND: 'refused',
  ALREADY_EXISTS: 'refused',
  PERMISSION_DENIED: 'refused',
  RESOURCE_EXHAUSTED: 'unknown',
  FAILED_PRECONDITION: 'refused',
  // Of the parts of a transaction that was cut off some may stand.
  ABORTED: 'unknown',
  OUT_OF_RANGE: 'refused',
  // Clients give it to a reply without a message as well.
  UNIMPLEMENTED: 'unknown',
  INTERNAL: 'unknown',
  UNAVAILABLE: 'unknown',
  DATA_LOSS: 'unknown',
  UNAUTHENTICATED: 'refused',
}

/** What a mutation has done that ended with this error. */
export function outcomeOf(error: unknown): MutationOutcome {
  if (!(error instanceof GraphQLError)) return 'unknown'
  const { cause, extensions } = error
  if (cause instanceof GrpcCallError) return cause.wasSent ? OUTCOMES[cause.status] : 'refused'
  // What was raised before anything was sent, about an argument or a header, is of no status.
  return extensions['grpc'] === undefined ? 'refused' : 'unknown'
}
