import type { InvalidationEvent } from '@vinyasa/invalidation'
import { BadStatus } from '../http/attempt.ts'
import type { CompiledEndpoint } from '../declare/endpoint.ts'
import { RestConfigError } from '../errors.ts'
import type { InvalidationTemplate } from '../declare/endpoint-options.ts'
import { compileResponsePath } from '../templates/response-path.ts'
import { argOf, parseTemplate, type Args } from '../templates/template.ts'

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

/** Client errors by which an API, or who stands before it, does not say that it has done nothing. */
const UNCLEAR: ReadonlySet<number> = new Set([408, 499])
/** What a socket was doing when it failed without having sent anything. */
const CONNECTING: ReadonlySet<unknown> = new Set(['connect', 'getaddrinfo'])

/** What one attempt has done that ended with this error. */
export function outcomeOf(error: unknown): 'refused' | 'unknown' {
  if (error instanceof BadStatus) {
    const { status } = error
    const isRefusal = (status >= 400 && status <= 499 && !UNCLEAR.has(status)) || status === 501
    return isRefusal ? 'refused' : 'unknown'
  }
  return isConnectError(error) ? 'refused' : 'unknown'
}

function isConnectError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  // Node tries the addresses of a name one after the other.
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isConnectError)
  const { code, syscall } = error as NodeJS.ErrnoException
  return CONNECTING.has(syscall) || code === 'UND_ERR_CONNECT_TIMEOUT'
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
