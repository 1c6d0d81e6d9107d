import { isRecord, LEAST_POLL_INTERVAL_MS, type LiveOptions } from '@vinyasa/core'
import type { DescField, DescFile, DescMethod, FileRegistry } from '@bufbuild/protobuf'
import { compileEntityId } from '@vinyasa/source-kit'
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt'
import type { Annotations, SchemaAnnotation } from './annotations.ts'
import { type Finding, GrpcSourceError, optionError } from '../errors.ts'
import type { Expose, GrpcSourceOptions, MethodOptions } from '../options.ts'
import { capitalize, decapitalize, firstFree, toGraphQLName, uncapitalize } from './graphql-names.ts'

export type FieldType = 'QUERY' | 'MUTATION' | 'RESOLVER' | 'SUBSCRIPTION'

/** A method that takes part in the GraphQL schema. */
export interface ExposedMethod {
  readonly desc: DescMethod
  /** `package.Service.Method` */
  readonly id: string
  readonly type: FieldType
  /** The GraphQL field's name. */
  readonly name: string
  /** Somebody chose the name; else it is made of the method's. */
  readonly isNamed: boolean
  readonly wrapRequest: string | undefined
  readonly plucks: readonly string[] | undefined
  readonly responsePluck: DescField | undefined
  readonly responseRequired: boolean
  readonly liveQuery: LiveOptions | undefined
  readonly settings: MethodOptions
  /** The method's name for people to read: `package.Service.Method (file.proto)`. */
  readonly origin: string
}

/** The arguments of a method's field. */
export type Arguments = Readonly<Record<string, unknown>>

/** Returns the request in a field's arguments: the arguments themselves, or what the one argument for the request holds. */
export function requestIn(args: Arguments, wrapRequest: string | undefined): Arguments {
  return wrapRequest === undefined ? args : ((args[wrapRequest] ?? {}) as Arguments)
}

export function methodId(desc: DescMethod): string {
  return `${desc.parent.typeName}.${desc.name}`
}

/** Finds a method by `package.Service.Method` or `package.Service/Method`. */
export function findMethod(registry: FileRegistry, id: string): DescMethod | undefined {
  const cut = Math.max(id.lastIndexOf('.'), id.lastIndexOf('/'))
  const service = registry.getService(id.slice(0, cut).replace(/^\//, ''))
  return service?.methods.find(({ name }) => name === id.slice(cut + 1))
}

/** The methods that joins call, which need not be fields. */
export function joinedMethods(
  { joins = [], federation }: GrpcSourceOptions,
  registry: FileRegistry,
): { desc: DescMethod; wrapRequest: undefined }[] {
  const entities = typeof federation === 'object' ? Object.values(federation.entities ?? {}) : []
  return [...joins, ...entities].flatMap(({ method, batch }) => {
    const id = batch?.method ?? method
    const desc = id === undefined ? undefined : findMethod(registry, id)
    return desc ? [{ desc, wrapRequest: undefined }] : []
  })
}

/** Returns whether a method is included or excluded, or undefined if no rule applies. */
type Exposure = (method: DescMethod) => boolean | undefined

/**
 * Patterns are full names of services or methods, and `*` matches any string: `shop.v1.*`. A pattern with `!` excludes
 * methods, including annotated ones. The last matching pattern wins. If all patterns exclude, they apply to the methods of
 * `all`.
 */
export function createExposure(expose: Expose, isOwn: (method: DescMethod) => boolean): Exposure {
  if (expose === 'annotated') return () => undefined
  if (expose === 'all') return (method) => isOwn(method) || undefined
  const rules = expose.map((pattern) => {
    const isWanted = !pattern.startsWith('!')
    return { isWanted, fits: toRegExp(isWanted ? pattern : pattern.slice(1)) }
  })
  const isOnlyWithout = rules.every(({ isWanted }) => !isWanted)
  return (method) => {
    const names = [method.parent.typeName, `${method.parent.typeName}.${method.name}`]
    const last = rules.findLast(({ fits }) => names.some((name) => fits.test(name)))
    if (last) return last.isWanted
    return (isOnlyWithout && isOwn(method)) || undefined
  }
}

function toRegExp(pattern: string): RegExp {
  const parts = pattern.replace('/', '.').split('*')
  return new RegExp(`^${parts.map((part) => part.replace(/[.$+?^(){}|[\]\\]/g, '\\$&')).join('.*')}$`)
}

/** Everything that protos and options expose; what is wrong with it goes to `findings`. */
export function exposeMethods(input: {
  readonly files: readonly DescFile[]
  readonly annotations: Annotations
  readonly exposure: Exposure
  readonly overrides: Readonly<Record<string, MethodOptions>>
  readonly findings: Finding[]
  /** Takes a line for each method that is left out, or that is called otherwise than by its own name. */
  readonly notes: string[]
}): ExposedMethod[] {
  const { files, annotations, exposure, overrides, findings, notes } = input
  const exposed: ExposedMethod[] = []
  for (const file of files) {
    for (const service of file.services) {
      for (const desc of service.methods) {
        const names = [methodId(desc), `${service.typeName}/${desc.name}`]
        const name = names.find((one) => Object.hasOwn(overrides, one))
        const settings = overrides[name ?? ''] ?? {}
        const schema = schemaOf(desc, settings, annotations, exposure)
        const path = name === undefined ? [] : ['methods', name]
        if (schema) exposed.push(toExposed(desc, schema, settings, path))
      }
    }
  }
  noteLikelyReads(exposed, annotations, notes)
  const named = withOwnNames(exposed, notes)
  reportDuplicates(named, findings)
  return named

  function toExposed(
    desc: DescMethod,
    schema: SchemaAnnotation,
    settings: MethodOptions,
    path: readonly string[],
  ): ExposedMethod {
    const report: Report = (message, ...option) =>
      void findings.push({
        file: desc.parent.file.proto.name,
        element: methodId(desc),
        message,
        path: path.length === 0 ? path : [...path, ...option],
      })
    const type = schema.type ?? 'QUERY'
    const { liveQuery: ownLive, invalidates } = settings
    const liveQuery = overlaid(annotations.liveQuery(desc), ownLive)
    checkKind(desc, type, report)
    checkLive(liveQuery, type, report)
    checkInvalidates(invalidates, report)
    const plucks = schema.request?.plucks?.length ? schema.request.plucks : undefined
    for (const pluck of plucks ?? []) {
      if (!fieldNamed(desc.input.fields, pluck))
        report(
          `request.plucks: ${desc.input.typeName} has no field "${pluck}"; ${fieldList(desc.input.fields)}`,
          'schema',
          'request',
        )
    }
    const pluckName = schema.response?.pluck
    const responsePluck = pluckName ? fieldNamed(desc.output.fields, pluckName) : undefined
    if (pluckName && !responsePluck) {
      report(
        `response.pluck: ${desc.output.typeName} has no field "${pluckName}"; ${fieldList(desc.output.fields)}`,
        'schema',
        'response',
      )
    }
    return {
      desc,
      id: methodId(desc),
      type,
      name: toGraphQLName(schema.name || uncapitalize(desc.name)),
      isNamed: Boolean(schema.name),
      // The requests of a stream are a list, which needs a name.
      wrapRequest: schema.request?.name || (desc.methodKind === 'client_streaming' ? 'requests' : undefined),
      plucks,
      responsePluck,
      responseRequired: schema.response?.required === true,
      liveQuery,
      settings,
      origin: `${methodId(desc)} (${desc.parent.file.proto.name})`,
    }
  }
}

function schemaOf(
  desc: DescMethod,
  settings: MethodOptions,
  annotations: Annotations,
  exposure: Exposure,
): SchemaAnnotation | undefined {
  if (settings.schema === false) return undefined
  const isWanted = exposure(desc)
  if (isWanted === false && !settings.schema) return undefined
  const byShape = isWanted ? { type: typeByShape(desc, annotations) } : undefined
  return overlaid(annotations.schema(desc) ?? byShape, settings.schema)
}

/** Returns what a proto says of a method, with the settings that say more or something else. */
function overlaid<T extends object>(stated: T | undefined, settings: T | undefined): T | undefined {
  if (!stated || !settings) return settings ?? stated
  const all = { ...stated } as Record<string, unknown>
  for (const [name, value] of Object.entries(settings)) {
    const before = all[name]
    if (value !== undefined) all[name] = isRecord(before) && isRecord(value) ? overlaid(before, value) : value
  }
  return all as T
}

/**
 * Gives methods whose names nobody chose names of their own, in their order: one that comes later gives way, with its
 * service's name, or its package's too. So a service that is added behind all others changes no field.
 */
function withOwnNames(exposed: readonly ExposedMethod[], notes: string[]): ExposedMethod[] {
  const owners = new Map<string, string>()
  const keyOf = ({ type }: ExposedMethod, name: string): string => `${type} ${name}`
  for (const method of exposed) if (method.isNamed) owners.set(keyOf(method, method.name), method.id)
  return exposed.map((method) => {
    if (method.isNamed || method.type === 'RESOLVER') return method
    const { id, name: short, desc } = method
    const ofService = `${decapitalize(desc.parent.name)}${capitalize(short)}`
    const spelled = `${desc.parent.typeName}.${short}`.replaceAll('.', '_')
    const candidates = [short, toGraphQLName(ofService), toGraphQLName(spelled)]
    const name = firstFree(candidates, (one) => owners.has(keyOf(method, one)))
    owners.set(keyOf(method, name), id)
    if (name !== short)
      notes.push(
        `${id} is called "${name}", because ${owners.get(keyOf(method, short))} already has the name "${short}"`,
      )
    return { ...method, name }
  })
}

/** Returns the type of an unannotated method, by what it says of itself, else by its verb. */
function typeByShape(desc: DescMethod, annotations: Annotations): FieldType {
  if (answersWithStream(desc)) return 'SUBSCRIPTION'
  const isRead =
    desc.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS ||
    annotations.isHttpGet(desc) ||
    READS.test(desc.name)
  return isRead ? 'QUERY' : 'MUTATION'
}

/** The standard methods that read (AIP-131, 132, 231), and searches, however their first letters are written. */
const READS = /^(?:[Gg]et|[Ll]ist|[Ss]earch|[Bb]atch_?[Gg]et)(?:[A-Z0-9_]|$)/
/** Other verbs of methods that mostly read, which may as well change something. */
const SEEMS_TO_READ = /^(?:find|read|fetch|count|query|look_?up|describe|show|exists)(?:[A-Z0-9_]|$)/

/** Methods that a note names of those that it is about. */
const MAX_NAMED = 8

function noteLikelyReads(exposed: readonly ExposedMethod[], annotations: Annotations, notes: string[]): void {
  const likely = exposed.filter(
    ({ desc, type, settings }) =>
      type === 'MUTATION' &&
      !settings.schema &&
      !annotations.schema(desc) &&
      SEEMS_TO_READ.test(uncapitalize(desc.name)),
  )
  const [first] = likely
  if (!first) return
  const more = likely.length - MAX_NAMED
  const named = likely.slice(0, MAX_NAMED).map(({ id }) => id)
  notes.push(
    `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}: mapped to mutations, because the protos do not declare them as reads; if a method only reads, add ` +
      `"option idempotency_level = NO_SIDE_EFFECTS" to the proto, or set methods: { '${first.id}': { schema: { type: 'QUERY' } } }`,
  )
}

/** Says what is wrong with a method, and which of its settings that is about. */
type Report = (message: string, ...option: readonly string[]) => void

function checkKind(desc: DescMethod, type: FieldType, report: Report): void {
  const refuse = (message: string): void => report(message, 'schema', 'type')
  if (type === 'SUBSCRIPTION' && !answersWithStream(desc)) {
    refuse('is a SUBSCRIPTION but returns one response; return a stream, or use type: QUERY or MUTATION')
  } else if (type !== 'SUBSCRIPTION' && answersWithStream(desc)) {
    refuse(`returns a stream, but a ${type} returns one response; use type: SUBSCRIPTION`)
  } else if (type === 'RESOLVER' && desc.methodKind === 'client_streaming') {
    refuse('accepts a stream of requests, but a RESOLVER sends one request; use type: MUTATION or QUERY')
  }
}

export function answersWithStream({ methodKind }: DescMethod): boolean {
  return methodKind === 'server_streaming' || methodKind === 'bidi_streaming'
}

function checkLive(live: LiveOptions | undefined, type: FieldType, report: Report): void {
  if (!live) return
  const refuse = (message: string, option: keyof LiveOptions): void => report(message, 'liveQuery', option)
  if (live.enabled && type !== 'QUERY')
    refuse(`has live_query.enabled but is a ${type}; only queries can be live`, 'enabled')
  for (const trigger of live.triggers ?? []) {
    if (!/^(\*|[A-Za-z_]\w*)\.(\*|[A-Za-z_]\w*)$/.test(trigger)) {
      refuse(
        `live_query.triggers contains "${trigger}"; write "<EntityType>.<operation>", where each part can be "*"`,
        'triggers',
      )
    }
  }
  const { pollIntervalMs = 0 } = live
  if (pollIntervalMs > 0 && pollIntervalMs < LEAST_POLL_INTERVAL_MS)
    refuse(
      `live_query.poll_interval_ms must be at least ${LEAST_POLL_INTERVAL_MS}, got ${pollIntervalMs}`,
      'pollIntervalMs',
    )
}

function checkInvalidates(invalidates: MethodOptions['invalidates'], report: Report): void {
  for (const { entityId } of [invalidates || []].flat()) {
    try {
      if (entityId !== undefined) readerOfEntityId(entityId)
    } catch (error) {
      if (!(error instanceof GrpcSourceError)) throw error
      report(error.message, 'invalidates')
    }
  }
}

/** Reads ids as the setting says. @throws GrpcSourceError */
export function readerOfEntityId(entityId: string): ReturnType<typeof compileEntityId> {
  return compileEntityId(entityId, (problem) => optionError([], `invalidates.entityId ${problem}`))
}

function reportDuplicates(exposed: readonly ExposedMethod[], findings: Finding[]): void {
  const seen = new Map<string, ExposedMethod>()
  for (const method of exposed) {
    if (method.type === 'RESOLVER') continue
    const key = `${method.type} ${method.name}`
    const first = seen.get(key)
    if (first) {
      findings.push({
        file: method.desc.parent.file.proto.name,
        element: method.id,
        message: `the ${method.type.toLowerCase()} field "${method.name}" has the same name as the field of ${first.origin}; rename one of the two fields with (graphql.schema).name or the setting methods`,
      })
    }
    seen.set(key, method)
  }
}

function fieldNamed(fields: readonly DescField[], wanted: string): DescField | undefined {
  return fields.find(({ name, jsonName }) => name === wanted || jsonName === wanted)
}

export function fieldList(fields: readonly { readonly name: string }[]): string {
  return fields.length === 0
    ? 'the message has no fields'
    : `its fields are ${fields.map(({ name }) => name).join(', ')}`
}
