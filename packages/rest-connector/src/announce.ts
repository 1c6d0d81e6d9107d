import type { InvalidationEvent } from '@vinyasa/invalidation'
import type { GraphQLError } from 'graphql'
import type { CompiledEndpoint } from './endpoint.ts'
import { RestConfigError, type RestErrorCode } from './errors.ts'
import type { InvalidationTemplate } from './endpoint-options.ts'
import { compileResponsePath } from './response-path.ts'
import { argOf, parseTemplate, type Args } from './template.ts'

/** What a call of a mutation endpoint announces, given its arguments and its result, if one came. */
export type Announcement = (args: Args, result: unknown) => InvalidationEvent[]

const VERBS = new Map([
  ['create', 'create'],
  ['add', 'create'],
  ['insert', 'create'],
  ['update', 'update'],
  ['set', 'update'],
  ['patch', 'update'],
  ['edit', 'update'],
  ['upsert', 'update'],
  ['delete', 'delete'],
  ['remove', 'delete'],
])

export function compileAnnouncement({ declared, returnType, isMutation }: CompiledEndpoint): Announcement {
  const { invalidates, name } = declared
  if (!isMutation || invalidates === false) return () => []
  if (invalidates !== undefined) {
    const templates = invalidates.map(compileTemplate)
    return (args, result) => templates.map((fill) => fill(args, result))
  }
  const { verb, rest } = splitVerb(name)
  const entityType = returnType.name === 'JSON' ? capitalised(rest) : returnType.name
  if (entityType === '') return () => []
  const operation = VERBS.get(verb) ?? (declared.method === 'DELETE' ? 'delete' : 'update')
  return (args, result) => [eventOf(entityType, operation, idOf(result) ?? idOf(args))]
}

/** Codes by which an API says that it has not done what it was asked. */
const REFUSALS: ReadonlySet<unknown> = new Set<RestErrorCode>([
  'BAD_USER_INPUT',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'NOT_FOUND',
  'CONFLICT',
  'FAILED_PRECONDITION',
  'RATE_LIMITED',
  'NOT_IMPLEMENTED',
])

/** A call that broke off, ran out of time or gave an unusable answer may have been carried out all the same. */
export function mayHaveChanged(error: GraphQLError): boolean {
  return !REFUSALS.has(error.extensions['code'])
}

function compileTemplate(template: InvalidationTemplate): (args: Args, result: unknown) => InvalidationEvent {
  const { entityType, operation, entityId } = template
  if (!entityType || !operation)
    throw new RestConfigError('an entry of invalidates needs entityType and operation')
  if (entityId === undefined) return () => eventOf(entityType, operation, undefined)
  if (entityId.startsWith('$')) {
    const extract = compileResponsePath(entityId)
    return (_, result) => eventOf(entityType, operation, asId(extract(result)))
  }
  const parts = parseTemplate(entityId)
  return (args) => {
    const values = parts.map((part) => (typeof part === 'string' ? part : asId(argOf(args, part.variable))))
    return eventOf(
      entityType,
      operation,
      values.some((value) => value === undefined) ? undefined : values.join(''),
    )
  }
}

function eventOf(entityType: string, operation: string, entityId: string | undefined): InvalidationEvent {
  return { entityType, operation, ...(entityId !== undefined && { entityId }) }
}

function splitVerb(name: string): { verb: string; rest: string } {
  const [verb = ''] = /^[a-z]+/.exec(name) ?? []
  return VERBS.has(verb) ? { verb, rest: name.slice(verb.length).replace(/^_/, '') } : { verb: '', rest: '' }
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function idOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'id')) return undefined
  return asId((value as { id: unknown }).id)
}

function asId(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
    ? String(value)
    : undefined
}
