import type { VariesBy } from '@vinyasa/invalidation'
import { keyed, type Turns } from '@vinyasa/core'
import {
  createJsonScalar,
  renamedStatements,
  type ContributedArgument,
  type ContributedField,
  type Meant,
  type Source,
  type BatchedJoin,
  createBatchedJoin,
  createSingleJoin,
  groupByKey,
  offerField,
  parentField,
  type ReadParent,
} from '@vinyasa/source-kit'
import { GraphQLSchema, type GraphQLFieldResolver } from 'graphql'
import type { Argument } from '../declare/arguments.ts'
import type { Callable, Call } from '../call/call.ts'
import type { CompiledEndpoint } from '../declare/endpoint.ts'
import { atPlace, RestConfigError, restError } from '../errors.ts'
import {
  parseTypeReference,
  type FieldDefinition,
  type FieldDefinitions,
  type TypeReference,
} from '../declare/fields.ts'
import type { TypeDefinitions } from '../declare/type-definitions.ts'
import { DeclaredTypes } from './declared-types.ts'
import { fieldResolver, rootResolver, scopeOf, isEvent } from './resolvers.ts'
import { createLongScalar, createUploadScalar, type Int64Mode } from '../json/scalars.ts'
import { checkedAnswer } from '../call/checked-answer.ts'
import { argsOf, compiledOf, type Envelope, nextOf, type CompiledLink } from '../declare/envelope.ts'
import type { RestConnectorOptions } from '../options.ts'
import { type Args, parseTemplate, toText, variablesOf, type TemplatePart } from '../templates/template.ts'
import type { JoinBatch, JoinOptions } from '../declare/endpoint-options.ts'
import { compileMember, refuseLevel } from '../declare/member-path.ts'
import { argumentsText } from '../json.ts'
import { type LoadItems, marks, type PlannableJoin } from '../json/planned-field.ts'
import { restFastPath } from './rest-fast-path.ts'
import { endingsOf } from '../http/ending.ts'

/** A field as a connector declares it, with types that are read already. */
interface DeclaredField extends Pick<
  ContributedField,
  'deprecationReason' | 'description' | 'parent' | 'name' | 'resolve'
> {
  readonly type: TypeReference
  readonly args: ReadonlyMap<string, Argument>
  readonly requires?: readonly string[] | undefined
  readonly isJoin?: boolean
}

/** The field that a join adds to its parent type. */
function joinField(
  endpoint: CompiledEndpoint,
  call: Call,
  join: JoinOptions,
  isPlannable: boolean,
): DeclaredField {
  const { type: parent, field: name, args, batch, description = endpoint.declared.description } = join
  if (endpoint.isMutation)
    throw new RestConfigError(
      `the join ${parent}.${name} cannot call a mutation; set asQuery if the endpoint does not change data`,
    )
  const templates = Object.entries(args).map(([arg, template]) => [arg, parseTemplate(template)] as const)
  const bound = Object.keys(args)
  const keyTemplate = templates[0]
  for (const arg of bound)
    if (!endpoint.args.has(arg))
      throw new RestConfigError(
        `the join ${parent}.${name} sets the argument "${arg}", which the endpoint does not have; ` +
          `expected ${[...endpoint.args.keys()].join(', ') || 'no arguments'}`,
        { path: ['args', arg] },
      )
  if (batch && templates.length !== 1)
    throw new RestConfigError(
      `the batched join ${parent}.${name} must have exactly one entry in args, the list of keys`,
      { path: ['args'] },
    )

  const free = [...endpoint.args].filter(([arg]) => !bound.includes(arg))
  const common = { parent, name, description, args: new Map(free), isJoin: true }
  const requires = [...new Set(templates.flatMap(([, parts]) => variablesOf(parts)))]
  if (!batch || !keyTemplate)
    return {
      ...common,
      type: endpoint.returnType,
      requires,
      resolve: createSingleJoin(
        new Map(templates.map(([arg, parts]) => [arg, filledFromParent(parts)])),
        async (args, context, info) => checkedAnswer(endpoint, await call(args, scopeOf(context, info))),
      ),
    }
  const { isList, text, name: item } = endpoint.returnType
  if (!isList)
    throw new RestConfigError(`the batched join ${parent}.${name} needs an endpoint that returns a list`, {
      path: ['batch'],
    })
  atPlace(['batch', 'key'], () => refuseLevel(batch.key, 'a key'), `join ${parent}.${name}`)
  return {
    ...common,
    type: parseTypeReference(batch.many ? text.replace(/!$/, '') : item),
    requires,
    resolve: batchedResolver(endpoint, call, keyTemplate, batch, isPlannable),
  }
}

function batchedResolver(
  endpoint: CompiledEndpoint,
  call: Call,
  [arg, parts]: readonly [string, readonly TemplatePart[]],
  batch: JoinBatch,
  isPlannable: boolean,
): GraphQLFieldResolver<unknown, unknown> {
  const { many = false, maxBatchSize = endpoint.method === 'GET' ? 100 : Number.POSITIVE_INFINITY } = batch
  const { read } = compileMember(batch.key)
  const loadItems: LoadItems = async (keys, args, scope) =>
    groupByKey(checkedAnswer(endpoint, await call({ ...args, [arg]: keys }, scope)), read)
  const batched: BatchedJoin = {
    readKey: filledFromParent(parts),
    many,
    maxBatchSize,
    argumentsText,
    load(keys, args, context, info) {
      // A batch is not one deferred fragment's to cancel, only the client's who leaves.
      const endings = endingsOf(context, undefined, isEvent(info))
      return loadItems(keys, args, { ...scopeOf(context, info), endings })
    },
  }
  const [part] = parts
  if (!isPlannable || parts.length !== 1 || typeof part !== 'object') return createBatchedJoin(batched)
  const planned: PlannableJoin = { kind: 'join', ...batched, arg, parentField: part.variable, loadItems }
  const resolve = createBatchedJoin(planned)
  offerField(marks.mark(resolve, planned), restFastPath)
  return resolve
}

/** A template filled from the parent; null as soon as one of its fields is. */
function filledFromParent(parts: readonly TemplatePart[]): ReadParent {
  const reads = parts.map((part) =>
    typeof part === 'string' ? part : { name: part.variable, read: parentField(part.variable) },
  )
  const [only] = reads
  if (reads.length === 1 && typeof only === 'object') return only.read
  return async (parent, context, info) => {
    let text = ''
    for (const part of reads) {
      if (typeof part === 'string') {
        text += part
        continue
      }
      const value = await part.read(parent, context, info)
      if (value === null || value === undefined) return null
      text += toText(value, part.name)
    }
    return text
  }
}

type ByEnvelope = Map<Envelope, GraphQLFieldResolver<unknown, unknown>>

/**
 * The fields of an envelope that ask the upstream once more. Endpoints may share the type of their envelopes: `resolversOf`
 * gives their resolvers of one field, by the envelope.
 */
function envelopeFields(
  endpoint: CompiledEndpoint,
  call: Call,
  callable: ReadonlyMap<string, Callable>,
  resolversOf: (coordinate: string) => ByEnvelope,
): readonly DeclaredField[] {
  const { envelope } = endpoint
  if (!envelope) return []
  const parent = envelope.type.name
  const fields: DeclaredField[] = []
  if (envelope.hasNext)
    fields.push({
      parent,
      name: 'next',
      type: { ...envelope.type, text: parent, isNonNull: false },
      description: 'The next page, if the response refers to one.',
      args: new Map(),
      requires: [],
      resolve: nextResolver(call),
    })
  for (const [name, link] of envelope.links) {
    const target = callable.get(link.endpoint)
    const compile = (): DeclaredField => {
      if (!target) throw new RestConfigError(`unknown endpoint "${link.endpoint}"`)
      return linkField(parent, name, link, target)
    }
    fields.push(atPlace(['envelope', 'links', name], compile, `envelope.links.${name}`))
  }
  return fields.map((field) => {
    const resolvers = resolversOf(`${parent}.${field.name}`)
    if (field.resolve) resolvers.set(envelope, field.resolve)
    return { ...field, resolve: resolveBy(resolvers) }
  })
}

/** Resolves a field with the resolver of the endpoint that returned the object. */
function resolveBy(resolvers: ByEnvelope): GraphQLFieldResolver<unknown, unknown> {
  return (source, ...given) => {
    const compiled = compiledOf(source as object)
    // Another plugin can create such an object, too. Then only one endpoint can be meant, or none.
    const [only, other] = compiled ? [resolvers.get(compiled)] : resolvers.values()
    if (!only || other)
      throw new Error(
        'this field calls the endpoint that returned its object, but the object was not returned by an endpoint of this connector',
      )
    return only(source, ...given)
  }
}

/** Endpoints that share an envelope type must declare the same fields: an object has only those of its endpoint. */
function refuseUnequalEnvelopes(callable: ReadonlyMap<string, Callable>): void {
  const known = new Map<string, { readonly fields: string; readonly where: string }>()
  for (const [index, { endpoint }] of [...callable.values()].entries()) {
    const { envelope, name, method, declared } = endpoint
    if (!envelope || declared.rootField === false) continue
    const { name: type } = envelope.type
    const { [type]: _, ...headers } = envelope.fields
    const ofHeaders = Object.values(headers).flatMap((members) => Object.keys(members))
    const fields = [
      'body',
      ...ofHeaders.map((header) => `headers.${header}`).toSorted(),
      ...(envelope.hasNext ? ['next'] : []),
      ...[...envelope.links.keys()].toSorted(),
    ].join(', ')
    const where = `${method} ${declared.path} (endpoint ${name})`
    const first = known.get(type)
    if (first && first.fields !== fields)
      throw new RestConfigError(
        `the envelope type ${type} has the fields ${first.fields} in ${first.where} and ${fields} in ${where}; ` +
          'declare the same fields, or give one of them another typeName',
        { path: ['endpoints', index, 'envelope'] },
      )
    if (!first) known.set(type, { fields, where })
  }
}

function nextResolver(call: Call): GraphQLFieldResolver<unknown, unknown> {
  return async (source, _args, context, info) => {
    const envelope = source as object
    let path: string | undefined
    try {
      path = nextOf(envelope)
    } catch (cause) {
      throw restError(
        'REST_BAD_RESPONSE',
        'The upstream sent a next-page URL that is too long, invalid or outside the base URL.',
        {
          cause,
        },
      )
    }
    if (path === undefined) return null
    return call(argsOf(envelope), { ...scopeOf(context, info), isEnveloped: true, path })
  }
}

function linkField(
  parent: string,
  name: string,
  link: CompiledLink,
  { endpoint, call }: Callable,
): DeclaredField {
  if (endpoint.isMutation)
    throw new RestConfigError(
      `the endpoint "${endpoint.name}" is a mutation, which a link cannot call; set asQuery if it does not change data`,
    )
  for (const arg of link.args.keys())
    if (!endpoint.args.has(arg))
      throw new RestConfigError(
        `the endpoint "${endpoint.name}" has no argument "${arg}"; ` +
          `expected ${[...endpoint.args.keys()].join(', ') || 'no arguments'}`,
        { path: ['args', arg] },
      )
  const { description = endpoint.declared.description } = link
  const type = endpoint.envelope?.type ?? endpoint.returnType
  return {
    parent,
    name,
    description,
    type: { ...type, text: type.text.replace(/!$/, ''), isNonNull: false },
    args: new Map([...endpoint.args].filter(([arg]) => !link.args.has(arg))),
    requires: [],
    async resolve(source, given: Args, context, info) {
      const args: Record<string, unknown> = { ...given }
      for (const [arg, read] of link.args) {
        const value = read(source as object) ?? null
        if (value !== null) args[arg] = value
        else if (endpoint.args.get(arg)?.isNonNull) return null
      }
      const answer = await call(args, { ...scopeOf(context, info), isEnveloped: true })
      return endpoint.envelope ? answer : checkedAnswer(endpoint, answer)
    },
  }
}

/** A declared field; `key` is the member of a response where its value is found. */
type Placed = DeclaredField & Pick<ContributedField, 'extensions' | 'origin'> & { readonly key?: string }

/**
 * Returns the source that adds the endpoints' fields to a schema. `meant` gives the types that endpoints mean by the names
 * that they state. `variesBy` is undefined if the responses do not depend on the caller. Long responses are written in `turns`.
 */
export function contribute(
  connector: string,
  callable: ReadonlyMap<string, Callable>,
  { types: defined = {}, plans = true, transformer, onPlan, int64 = 'string' }: RestConnectorOptions,
  meant: Meant,
  variesBy: VariesBy | undefined,
  turns: Turns,
): Source {
  // A transformer can return promises, functions or objects with getters.
  const isPlannable = plans && !transformer
  // Not `crypto`: workerd has none while modules are evaluated.
  const id = `rest ${connector} ${Math.random()}`
  const fields = new Map<string, Placed>()
  const types = new Map<string, string | undefined>()
  const resolversOf = keyed((_field: string): ByEnvelope => new Map())
  refuseUnequalEnvelopes(callable)

  /** `path`: of the option in the endpoint that declares it. */
  function add(field: Placed, path: readonly PropertyKey[]): void {
    const key = `${field.parent}.${field.name}`
    const known = fields.get(key)
    const conflict = known && conflictOf(key, known, field)
    if (conflict !== undefined) throw new RestConfigError(conflict, { path })
    if (!known) fields.set(key, field)
  }

  function addType(
    typeName: string,
    definitions: FieldDefinitions,
    origin: string,
    path: readonly PropertyKey[],
    description?: string,
  ): void {
    if (!types.has(typeName) || description !== undefined) types.set(typeName, description)
    for (const [name, definition] of Object.entries(definitions)) {
      const full: FieldDefinition = typeof definition === 'string' ? { type: definition } : definition
      const { type: text, description: about, key = name, fields: nested } = full
      const at = [...path, name]
      const type = atPlace(at, () => parseTypeReference(text), `field "${typeName}.${name}"`)
      const resolve = atPlace(at, () => fieldResolver(typeName, name, key, type, defined[type.name]?.kind))
      const args = new Map<string, Argument>()
      add({ parent: typeName, name, type, description: about, args, resolve, origin, key }, at)
      if (nested) addType(type.name, nested, origin, [...at, 'fields'])
    }
  }

  for (const [index, { endpoint, call }] of [...callable.values()].entries()) {
    const { declared, name, method } = endpoint
    const { description, deprecated, responseSchema, liveQuery, rootField = true, on = [] } = declared
    const origin = `rest connector "${connector}": ${method} ${declared.path} (endpoint ${name})`
    const stated = { ...statementsOf(endpoint), ...(liveQuery && { liveQuery }) }
    const { liveQuery: live, ...statements } = renamedStatements(stated, meant)
    const own = { ...(variesBy && { variesBy }), ...statements }
    const addAll = (): void => {
      if (rootField)
        add(
          {
            parent: endpoint.isMutation ? 'Mutation' : 'Query',
            name,
            type: endpoint.envelope?.type ?? endpoint.returnType,
            description,
            deprecationReason: deprecated,
            args: endpoint.args,
            resolve: rootResolver(endpoint, call, isPlannable, turns),
            origin,
            extensions: { ...own, ...(live !== undefined && { liveQuery: live }) },
          },
          ['name'],
        )
      for (const [place, join] of [on].flat().entries()) {
        const path = Array.isArray(on) ? ['on', place] : ['on']
        const field = atPlace(path, () => joinField(endpoint, call, join, isPlannable))
        add({ ...field, origin, extensions: own }, path)
      }
      if (rootField) {
        for (const [typeName, definitions] of Object.entries(endpoint.envelope?.fields ?? {}))
          addType(typeName, definitions, origin, ['envelope'])
        for (const field of envelopeFields(endpoint, call, callable, resolversOf))
          add({ ...field, origin, extensions: own }, ['envelope', 'links', field.name])
      }
      if (responseSchema) {
        const path = ['responseSchema', 'fields']
        addType(responseSchema.typeName, responseSchema.fields, origin, path, responseSchema.description)
      }
    }
    atPlace(['endpoints', index], addAll, `endpoint "${name}"`)
  }
  const all = [...fields.values()]
  return {
    id,
    schema: schemaOf(all, defined, int64, `rest connector "${connector}"`),
    fields: all.map(({ type, args, ...field }) => ({
      ...field,
      type: type.text,
      args: Object.fromEntries([...args].map(([name, argument]) => [name, toContributed(argument)])),
    })),
    types,
    onPlan,
  }
}

/** Says why two endpoints cannot declare the same field; undefined if they can. */
function conflictOf(name: string, known: Placed, field: Placed): string | undefined {
  if (known.type.text !== field.type.text)
    return (
      `field ${name} is declared as ${known.type.text} by ${known.origin} ` +
      `and as ${field.type.text} by ${field.origin}; use the same type in both, or rename one of the fields`
    )
  const keyText = ({ key }: Placed): string => (key === undefined ? 'without a key' : `with the key "${key}"`)
  if (known.key !== field.key)
    return (
      `field ${name} is declared ${keyText(known)} by ${known.origin} ` +
      `and ${keyText(field)} by ${field.origin}; use the same key in both, or rename one of the fields`
    )
  if (known.isJoin || field.isJoin)
    return `field ${name} is added by ${known.origin} and by ${field.origin}; give one of them another name`
  const argsText = ({ args }: Placed): string =>
    [...args].map(([arg, { text }]) => `${arg}: ${text}`).join(', ') || 'no arguments'
  if (argsText(known) === argsText(field)) return undefined
  return (
    `field ${name} has ${argsText(known)} from ${known.origin} and ${argsText(field)} from ${field.origin}; ` +
    'give one of the fields another name'
  )
}

function toContributed(argument: Argument): ContributedArgument {
  const { text, description, default: value, deprecated: deprecationReason } = argument
  if (hasLiteral(argument, value, text.split('[').length - 1))
    return { type: text, description, defaultValue: value, deprecationReason }
  // The endpoint puts it in.
  const told = `Default: \`${JSON.stringify(value)}\`.`
  return {
    type: text.replace(/!$/, ''),
    description: description ? `${description}\n\n${told}` : told,
    deprecationReason,
  }
}

/** Whether a schema can show a default: graphql has no literal for a scalar's lists and objects. `depth`: of lists. */
function hasLiteral(type: TypeReference, value: unknown, depth: number): boolean {
  if (type.name !== 'JSON' || typeof value !== 'object' || value === null) return true
  if (depth === 0 || !Array.isArray(value)) return false
  return value.every((item) => hasLiteral(type, item, depth - 1))
}

/** The types of the definitions, and the scalars of our own that they and fields name. */
function schemaOf(
  fields: readonly DeclaredField[],
  definitions: TypeDefinitions,
  int64: Int64Mode,
  origin: string,
): GraphQLSchema {
  const scalars = [createJsonScalar(), createLongScalar(int64), createUploadScalar()]
  const used = new Set(
    fields.flatMap(({ type, args }) => [type.name, ...[...args.values()].map(({ name }) => name)]),
  )
  return new GraphQLSchema({
    // Scalars that only definitions name come with these.
    types: [
      ...scalars.filter(({ name }) => used.has(name)),
      ...new DeclaredTypes(definitions, scalars, origin).build(),
    ],
  })
}

/** Returns what the endpoint's author states: who says what a mutation announces says what it changes. */
function statementsOf({
  declared,
  isMutation,
}: CompiledEndpoint): Readonly<Record<string, readonly string[]>> {
  const { invalidates, liveQuery, dependsOn = liveQuery?.dependsOn } = declared
  const announced = isMutation && invalidates ? invalidates.map(({ entityType }) => entityType) : undefined
  const changes = declared.changes ?? announced
  return { ...(dependsOn && { dependsOn }), ...(changes && { changes }) }
}
