import { isJoinKey, createAttachment, fieldOf, offerField, recordedJoin } from '@vinyasa/source-kit'
import DataLoader from 'dataloader'
import { isLeafType, type GraphQLFieldResolver, type GraphQLResolveInfo } from 'graphql'
import type { Call } from '../call/call.ts'
import type { DeclaredField } from '../declare/declared-field.ts'
import type { CompiledEndpoint } from '../declare/endpoint.ts'
import type { JoinBatch, JoinOptions } from '../declare/endpoint-options.ts'
import { restError, RestConfigError } from '../errors.ts'
import { parseTypeReference, type TypeReference } from '../declare/fields.ts'
import { canonicalJson } from '../json.ts'
import { markResolver, type ItemsByKey, type LoadItems, type PlannableJoin } from '../json/planned-field.ts'
import { restFastPath } from './rest-fast-path.ts'
import { checkedShape } from '../call/checked-answer.ts'
import { isEvent, scopeOf } from './resolvers.ts'
import { signalsOf } from '../http/ending.ts'
import { parseTemplate, toText, variablesOf, type Args, type TemplatePart } from '../templates/template.ts'

/** The field that a join adds to its parent type. */
export function joinField(
  endpoint: CompiledEndpoint,
  call: Call,
  join: JoinOptions,
  isPlannable: boolean,
): DeclaredField {
  const { type: parent, field: name, args, batch, description = endpoint.declared.description } = join
  if (endpoint.isMutation)
    throw new RestConfigError(`join ${parent}.${name}: a mutation cannot resolve a field`)
  const templates = Object.entries(args).map(([arg, template]) => ({ arg, parts: parseTemplate(template) }))
  const bound = Object.keys(args)
  const keyTemplate = templates[0]
  for (const arg of bound)
    if (!endpoint.args.has(arg))
      throw new RestConfigError(`join ${parent}.${name}: the endpoint has no argument "${arg}"`)
  if (batch && templates.length !== 1)
    throw new RestConfigError(
      `join ${parent}.${name}: a batched join takes exactly one entry in args, the list of keys`,
    )

  const free = [...endpoint.args].filter(([arg]) => !bound.includes(arg))
  const common = { parent, name, description, args: new Map(free), isJoin: true }
  const requires = [...new Set(templates.flatMap(({ parts }) => variablesOf(parts)))]
  if (!batch || !keyTemplate)
    return {
      ...common,
      type: endpoint.returnType,
      requires,
      resolve: singleResolver(endpoint, call, templates),
    }
  return {
    ...common,
    type: batchedType(endpoint, batch, `join ${parent}.${name}`),
    requires,
    resolve: batchedResolver(endpoint, call, keyTemplate, batch, isPlannable),
  }
}

interface BoundArg {
  readonly arg: string
  readonly parts: readonly TemplatePart[]
}

function singleResolver(
  endpoint: CompiledEndpoint,
  call: Call,
  templates: readonly BoundArg[],
): GraphQLFieldResolver<unknown, unknown> {
  return async (source, args: Args, context, info) => {
    const bound: Record<string, unknown> = { ...args }
    for (const { arg, parts } of templates) {
      const value = await fromParent(parts, source, context, info)
      if (value === null) return null
      bound[arg] = value
    }
    return checkedShape(endpoint, await call(bound, scopeOf(context, info)))
  }
}

function batchedType(
  { returnType }: CompiledEndpoint,
  { many = false }: JoinBatch,
  place: string,
): TypeReference {
  if (!returnType.isList)
    throw new RestConfigError(`${place}: a batched join needs an endpoint that returns a list`)
  return many ? parseTypeReference(returnType.text.replace(/!$/, '')) : parseTypeReference(returnType.name)
}

function batchedResolver(
  endpoint: CompiledEndpoint,
  call: Call,
  { arg, parts }: BoundArg,
  batch: JoinBatch,
  isPlannable: boolean,
): GraphQLFieldResolver<unknown, unknown> {
  const { many = false, maxSize = endpoint.method === 'GET' ? 100 : Number.POSITIVE_INFINITY } = batch
  const load: LoadItems = async (keys, args, scope) =>
    group(checkedShape(endpoint, await call({ ...args, [arg]: keys }, scope)), batch.key)
  const valueOf = (items: ItemsByKey, key: unknown): unknown => {
    const found = items.get(String(key)) ?? []
    return many ? found : (found[0] ?? null)
  }
  const [part] = parts
  const planned: PlannableJoin | undefined =
    isPlannable && parts.length === 1 && typeof part === 'object'
      ? { kind: 'join', arg, parentField: part.variable, many, maxSize, load, valueOf }
      : undefined
  // One for each operation and set of further arguments.
  const loaders = createAttachment<Map<string, DataLoader<unknown, unknown, string>>>()

  function loaderFor(
    args: Args,
    canonicalArgs: string,
    context: unknown,
    info: GraphQLResolveInfo,
  ): DataLoader<unknown, unknown, string> {
    const ofOperation =
      loaders.get(info.variableValues) ?? new Map<string, DataLoader<unknown, unknown, string>>()
    loaders.set(info.variableValues, ofOperation)
    const known = ofOperation.get(canonicalArgs)
    if (known) return known
    // A batch is not one deferred fragment's to cancel, only the client's who leaves.
    const scope = { ...scopeOf(context, info), signals: signalsOf(context, undefined, isEvent(info)) }
    const loader = new DataLoader<unknown, unknown, string>(
      async (keys) => {
        const distinct = [...new Map(keys.map((one) => [String(one), one])).values()]
        const items = await load(distinct, args, scope)
        return keys.map((one) => valueOf(items, one))
      },
      {
        // Between the fields of a mutation the data changes, and so between the events of a subscription.
        cache: info.operation.operation === 'query',
        cacheKeyFn: String,
        ...(Number.isFinite(maxSize) && { maxBatchSize: maxSize }),
      },
    )
    ofOperation.set(canonicalArgs, loader)
    return loader
  }

  const resolve: GraphQLFieldResolver<unknown, unknown> = async (source, args: Args, context, info) => {
    const key = await fromParent(parts, source, context, info)
    if (key === null) return many ? [] : null
    const canonicalArgs = canonicalJson(args)
    const recorded = planned && recordedJoin(info, planned, canonicalArgs + String(key))
    return recorded ?? loaderFor(args, canonicalArgs, context, info).load(key)
  }
  if (planned) offerField(markResolver(resolve, planned), restFastPath)
  return resolve
}

function group(items: unknown, key: string): Map<string, unknown[]> {
  const groups = new Map<string, unknown[]>()
  for (const item of Array.isArray(items) ? (items as unknown[]) : []) {
    if (typeof item !== 'object' || item === null || !Object.hasOwn(item, key)) continue
    const value = String((item as Record<string, unknown>)[key])
    const known = groups.get(value)
    if (known) known.push(item)
    else groups.set(value, [item])
  }
  return groups
}

/** A template filled from the parent object; null as soon as one of its fields is. */
async function fromParent(
  parts: readonly TemplatePart[],
  source: unknown,
  context: unknown,
  info: GraphQLResolveInfo,
): Promise<unknown> {
  const values: unknown[] = []
  for (const part of parts) {
    const value = typeof part === 'string' ? part : await parentField(part.variable, source, context, info)
    if (value === null || value === undefined) return null
    values.push(value)
  }
  if (values.length === 1) return isJoinKey(values[0]) ? values[0] : null
  return values.map((value, index) => toText(value, String(parts[index]))).join('')
}

/**
 * A field of the parent as a client would see it: through its own resolver and scalar, because the parent may be
 * another source's object, with names and representations of its own.
 */
async function parentField(
  name: string,
  source: unknown,
  context: unknown,
  info: GraphQLResolveInfo,
): Promise<unknown> {
  const field = fieldOf(info.parentType, name)
  if (!field) throw restError('INTERNAL_SERVER_ERROR', `Type ${info.parentType.name} has no field "${name}".`)
  const value: unknown = field.resolve
    ? await field.resolve(source, {}, context, info)
    : (source as Record<string, unknown> | null)?.[name]
  const type = 'ofType' in field.type ? field.type.ofType : field.type
  return value !== null && value !== undefined && isLeafType(type) ? type.serialize(value) : value
}
