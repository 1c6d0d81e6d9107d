import type { DescField, DescMessage, DescMethod } from '@bufbuild/protobuf'
import {
  type ContributedField,
  createSingleJoin,
  parentField,
  parentMember,
  type ReadParent,
  type BatchedJoin,
  createBatchedJoin,
  groupByKey,
  type ItemsByKey,
  offerField,
} from '@vinyasa/source-kit'
import {
  getNamedType,
  getNullableType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLNamedType,
  type GraphQLFieldConfig,
  type GraphQLFieldResolver,
} from 'graphql'
import type { Contract } from '../contract/contract.ts'
import type { BatchOptions, JoinOptions } from '../contract/join-options.ts'
import type { MethodRuntime } from '../methods/method-runtime.ts'
import type { OperationInfo } from '../methods/operation.ts'
import { fieldList, methodId, type ExposedMethod } from '../contract/methods.ts'
import type { FieldShape, Shapes, ValueKind } from '../contract/shapes.ts'
import { nearestMethods } from '../contract/used-types.ts'
import type { TypeBuilder } from '../mapping/types.ts'
import type { PlannableJoin, ToBatchRequest } from '../json/transcoder.ts'
import { marks } from '../json/planned-field.ts'
import { grpcFastPath } from './grpc-fast-path.ts'

/** Returns the field that has a name, in GraphQL or in the proto. */
function fieldOf(shapes: Shapes, message: DescMessage, name: string): FieldShape | undefined {
  return shapes.message(message).fields.find((field) => field.name === name || field.desc.name === name)
}

/** Says what fields a message has. */
function fieldNames(shapes: Shapes, message: DescMessage): string {
  return fieldList(shapes.message(message).fields)
}

/**
 * Compiles `batch.keys`: `ids`, a repeated field that takes the keys, or `ids.id`, a path through exactly one such
 * field, to what takes the key in each of its messages. A text says what is wrong with the path.
 */
function compileKeyPath(shapes: Shapes, input: DescMessage, path: string): ToBatchRequest | string {
  const refuse = (problem: string): string => `batch.keys ${problem}`
  const fields: FieldShape[] = []
  let message: DescMessage | undefined = input
  for (const name of path.split('.')) {
    if (!message)
      return refuse(
        `is "${path}", but ${lastOf(fields).desc.parent.typeName}.${lastOf(fields).name} has no field that can hold a key; end the path before "${name}"`,
      )
    const field = fieldOf(shapes, message, name)
    if (!field)
      return refuse(
        `is "${path}", but ${message.typeName} has no field "${name}"; ${fieldNames(shapes, message)}`,
      )
    fields.push(field)
    message = field.value.kind === 'message' && field.cardinality !== 'map' ? field.value.message : undefined
  }
  const lists = fields.filter(({ cardinality }) => cardinality !== 'single')
  if (lists.length > 1)
    return refuse(
      `is "${path}", but ${lists.map(({ name }) => name).join(' and ')} are lists or maps; the path must contain exactly one list and no map`,
    )
  const [list] = lists
  if (list?.cardinality !== 'list')
    return refuse(
      `is "${path}", but the path must contain a repeated field of ${input.typeName}; ${fieldNames(shapes, input)}`,
    )
  if (message)
    return refuse(
      `is "${path}", ${lastOf(fields) === list ? 'a list of' : 'which has the type'} ${message.typeName}; end the path at the field that holds the key (${suggestions(shapes, message, path) || 'the message has no such field'})`,
    )
  const place = fields.indexOf(list)
  const [around, within] = [fields.slice(0, place + 1), fields.slice(place + 1)]
  return (keys) =>
    wrap(
      around,
      keys.map((key) => wrap(within, key)),
    ) as Readonly<Record<string, unknown>>
}

function wrap(fields: readonly FieldShape[], value: unknown): unknown {
  return fields.reduceRight<unknown>((inner, { name }) => ({ [name]: inner }), value)
}

function lastOf(fields: readonly FieldShape[]): FieldShape {
  return fields.at(-1) as FieldShape
}

/** The paths on to the single values of a message, through the messages in it. */
function suggestions(
  shapes: Shapes,
  message: DescMessage,
  path: string,
  above: readonly DescMessage[] = [],
): string {
  const below = [...above, message]
  const single = shapes.message(message).fields.filter(({ cardinality }) => cardinality === 'single')
  return single
    .flatMap(({ name, value }) => {
      if (value.kind !== 'message') return [`${path}.${name}`]
      return below.includes(value.message) ? [] : suggestions(shapes, value.message, `${path}.${name}`, below)
    })
    .join(' or ')
}

/** The method that brings the items of many keys. */
type BatchMethod = Pick<PlannableJoin, 'runtime' | 'output' | 'toRequest' | 'items' | 'itemKey' | 'parentKey'>

/** Resolves a batched join by one RPC for all parents, or lets plans do so. */
function createBatchResolver(
  join: Omit<BatchedJoin, 'load'>,
  method: BatchMethod,
  plannable: Pick<PlannableJoin, 'codecs' | 'transcoder'> | undefined,
): GraphQLFieldResolver<unknown, unknown> {
  const { runtime, toRequest, items, itemKey } = method
  const itemsIn = (response: unknown): ItemsByKey =>
    groupByKey(memberOf(response, items.name), (item) => memberOf(item, itemKey.name))
  const batched: BatchedJoin = {
    ...join,
    async load(asked, _args, context, { operation, rootValue }) {
      // A batch is not one deferred fragment's to cancel, only the client's who leaves.
      const info = { operation, rootValue: rootValue as unknown }
      return itemsIn(await runtime.unary(toRequest(asked.map(String)), { context, info }))
    },
  }
  if (!plannable) return createBatchedJoin(batched)
  const planned: PlannableJoin = {
    ...batched,
    ...method,
    ...plannable,
    itemsIn: (bytes) => itemsIn(runtime.decode(bytes)),
  }
  const resolve = createBatchedJoin(planned)
  offerField(marks.mark(resolve, { kind: 'join', join: planned }), grpcFastPath)
  return resolve
}

function memberOf(message: unknown, name: string): unknown {
  return (message as Readonly<Record<string, unknown>> | null | undefined)?.[name]
}

export interface JoinContext extends Pick<Contract, 'shapes' | 'findings' | 'variesBy'> {
  readonly sourceName: string
  readonly types: TypeBuilder
  readonly findMethod: (id: string) => DescMethod | undefined
  /** A runtime that treats the method as a read. */
  readonly reader: (method: DescMethod) => MethodRuntime
  /** The response field that the method itself plucks. */
  readonly pluckOf: (method: DescMethod) => DescField | undefined
  /** Returns the `dependsOn` that the method's options state. */
  readonly dependsOnOf: (method: DescMethod) => readonly string[] | undefined
  /** For plans; undefined without them. */
  readonly plannable: Pick<PlannableJoin, 'codecs' | 'transcoder'> | undefined
}

/** The fields of the joins in the options. */
export function declareJoins(joins: readonly JoinOptions[], context: JoinContext): ContributedField[] {
  const declared: ContributedField[] = []
  for (const [index, join] of joins.entries()) {
    const { type: parent, field: name } = join
    const path = ['joins', index]
    const config = createJoinField(join, path, context)
    if (!config) continue
    if (declared.some((other) => other.parent === parent && other.name === name))
      context.findings.push({ element: `joins: ${parent}.${name}`, message: 'is declared twice', path })
    else
      declared.push({
        ...config,
        parent,
        name,
        origin: String(config.extensions?.['origin']),
        requires: keysOf(join),
        isJoin: true,
      })
  }
  return declared
}

/** Returns the types of the joins' answers; the schema has them before the types that get the joins. */
export function typesOf(joins: readonly ContributedField[]): GraphQLNamedType[] {
  return joins.flatMap(({ type }) => (typeof type === 'string' ? [] : [getNamedType(type)]))
}

/** Says what is wrong with an option of a join, or with the join itself. */
type Report = (message: string, ...option: readonly PropertyKey[]) => undefined

/**
 * Checks one declared join and makes its field; what is wrong goes to the findings. `path`: where the options have it.
 * `read`: how it reads its parents.
 */
export function createJoinField(
  join: JoinOptions,
  path: readonly PropertyKey[],
  context: JoinContext,
  read: (name: string) => ReadParent = parentField,
): GraphQLFieldConfig<unknown, unknown> | undefined {
  const element = `joins: ${join.type}.${join.field}`
  const report: Report = (message, ...option) =>
    void context.findings.push({ element, message, path: [...path, ...option] })
  if (join.batch) return createBatchField(join, join.batch, context, read, report)
  if (join.method === undefined) return report('has no method; set method or batch.method')
  const method = context.findMethod(join.method)
  if (!method)
    return report(`method "${join.method}" is not in the protos; write "package.Service.Method"`, 'method')
  if (method.methodKind !== 'unary')
    return report(`${join.method} is a streaming method; a join needs a unary method`, 'method')
  const request = join.request ?? {}
  const missing = Object.keys(request).find((name) => !fieldOf(context.shapes, method.input, name))
  if (missing !== undefined)
    return report(
      `request: ${method.input.typeName} has no field "${missing}"; ${fieldNames(context.shapes, method.input)}`,
      'request',
      missing,
    )
  const pluck = join.pluck === undefined ? undefined : fieldOf(context.shapes, method.output, join.pluck)
  if (join.pluck !== undefined && !pluck)
    return report(
      `pluck: ${method.output.typeName} has no field "${join.pluck}"; ${fieldNames(context.shapes, method.output)}`,
      'pluck',
    )
  return createSingleField({ ...join, request }, method, pluck, context, read)
}

/** The field of a join with one call for each parent; request fields that the parent does not fill are arguments. */
function createSingleField(
  join: JoinOptions & { readonly request: Readonly<Record<string, string>> },
  method: DescMethod,
  pluck: FieldShape | undefined,
  context: JoinContext,
  read: (name: string) => ReadParent,
): GraphQLFieldConfig<unknown, unknown> {
  const { types, shapes } = context
  const plucked =
    pluck ?? shapes.message(method.output).fields.find(({ desc }) => desc === context.pluckOf(method))
  const type = getNullableType(plucked ? types.outputOf(plucked) : types.output(method.output))
  const bound = new Map(Object.entries(join.request).map(([name, from]) => [name, read(from)]))
  const runtime = context.reader(method)
  const args = Object.fromEntries(
    Object.entries(types.inputFields(method.input)).filter(([name]) => !bound.has(name)),
  )
  return {
    type: join.required ? new GraphQLNonNull(type) : type,
    args,
    description: join.description,
    extensions: joinExtensions(method, keysOf(join), context),
    resolve: createSingleJoin(bound, async (values, ...[of, info]) => {
      const response = await runtime.unary(values, { context: of, info: info as OperationInfo })
      return plucked ? memberOf(response, plucked.name) : runtime.pluck(response)
    }),
  }
}

function createBatchField(
  join: JoinOptions,
  batch: BatchOptions,
  context: JoinContext,
  read: (name: string) => ReadParent,
  report: Report,
): GraphQLFieldConfig<unknown, unknown> | undefined {
  const { shapes, types } = context
  const { many = false, maxBatchSize = Number.POSITIVE_INFINITY } = batch
  const method = context.findMethod(batch.method)
  if (!method)
    return report(
      `batch.method "${batch.method}" is not in the protos; write "package.Service.Method"`,
      'batch',
      'method',
    )
  if (method.methodKind !== 'unary')
    return report(`${batch.method} is a streaming method; a join needs a unary method`, 'batch', 'method')
  const toRequest = compileKeyPath(shapes, method.input, batch.keys)
  if (typeof toRequest === 'string') return report(toRequest, 'batch', 'keys')
  const items = fieldOf(shapes, method.output, batch.items)
  if (items?.cardinality !== 'list' || items.value.kind !== 'message') {
    return report(
      `batch.items: ${method.output.typeName} has no repeated message field "${batch.items}"; ${fieldNames(shapes, method.output)}`,
      'batch',
      'items',
    )
  }
  const { message } = items.value
  const itemKey = fieldOf(shapes, message, batch.itemKey ?? 'id')
  if (!itemKey)
    return report(
      `batch.itemKey: ${message.typeName} has no field "${batch.itemKey ?? 'id'}"; ${fieldNames(shapes, message)}`,
      'batch',
      'itemKey',
    )
  const [parentKey] = keysOf(join)
  if (parentKey === undefined)
    return report('batch.parentKey is missing; set it to the parent field that holds the key', 'batch')
  const resolve = createBatchResolver(
    { readKey: read(parentKey), many, maxBatchSize },
    { runtime: context.reader(method), output: method.output, toRequest, items, itemKey, parentKey },
    context.plannable,
  )
  const item = types.output(message)
  const type = many ? new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(item))) : item
  return {
    type: join.required && !many ? new GraphQLNonNull(type) : type,
    description: join.description,
    extensions: joinExtensions(method, [parentKey], context),
    resolve,
  }
}

/**
 * The field for `(graphql.field).resolver`: the request is filled from the message that it is in. Undefined, with a
 * finding, if no method fits.
 */
export function declaredResolver(
  parent: DescMessage,
  field: FieldShape,
  exposed: readonly ExposedMethod[],
  context: JoinContext,
): GraphQLFieldConfig<unknown, unknown> | undefined {
  const { shapes, findings } = context
  const { resolver } = field.annotation
  const report = (problem: string): undefined =>
    void findings.push({
      file: parent.file.proto.name,
      element: `${parent.typeName}.${field.desc.name}`,
      message: `(graphql.field).resolver is "${resolver}", but ${problem}`,
    })
  const named = exposed.filter(
    ({ name, type }) => name === resolver && (type === 'RESOLVER' || type === 'QUERY'),
  )
  const [method, other] = nearestMethods(parent, named, shapes)
  if (!method) return report('no exposed RESOLVER or QUERY method has that name; correct the name')
  if (other)
    return report(
      `both ${method.origin} and ${other.origin} have that name; rename one of these methods with (graphql.schema).name`,
    )
  const { output } = method.desc
  const result = shapes.message(output).fields.find(({ desc }) => desc === method.responsePluck)
  const given = kindOf(
    result?.value ?? { kind: 'message', message: output, delimited: false },
    result?.cardinality ?? 'single',
  )
  const declared = kindOf(field.value, field.cardinality)
  // A scalar is the value that the request is filled from.
  if (field.value.kind === 'message' && given !== declared)
    return report(
      `${method.origin} returns ${given}, but the field is declared as ${declared}; both types must be the same`,
    )
  const siblings = shapes.message(parent).fields
  const inputs = shapes.message(method.desc.input).fields
  const request: Record<string, string> = {}
  for (const input of inputs) {
    const source = parentFieldFor(input, field, siblings, inputs.length === 1)
    if (source) request[input.name] = source.name
  }
  const description = field.annotation.description || undefined
  return createSingleField(
    { type: '', field: field.name, request, description, required: field.required },
    method.desc,
    undefined,
    context,
    parentMember,
  )
}

function kindOf(value: ValueKind, cardinality: FieldShape['cardinality']): string {
  const { kind } = value
  const name = kind === 'message' ? value.message.typeName : kind === 'wellKnown' ? value.type : kind
  return cardinality === 'single' ? name : `a ${cardinality} of ${name}`
}

/** `author_id` resolved by `GetUser(id)` gives its own value; `User author` beside `author_id` takes that; else a field of the same name. */
function parentFieldFor(
  input: FieldShape,
  field: FieldShape,
  siblings: readonly FieldShape[],
  isOnlyInput: boolean,
): FieldShape | undefined {
  if (isOnlyInput && field.value.kind === 'scalar') return field
  const own = `${field.desc.name}_${input.desc.name}`
  return (
    siblings.find(({ desc }) => desc.name === own) ??
    siblings.find(({ desc }) => desc !== field.desc && desc.name === input.desc.name)
  )
}

/** The fields of the parent that a join reads. */
function keysOf({ request, batch }: JoinOptions): readonly string[] {
  const values = Object.values(request ?? {})
  if (!batch) return values
  if (batch.parentKey !== undefined) return [batch.parentKey]
  return values.length === 1 ? values : []
}

function joinExtensions(
  method: DescMethod,
  requires: readonly string[],
  context: JoinContext,
): Readonly<Record<string, unknown>> {
  const { variesBy, sourceName } = context
  const dependsOn = context.dependsOnOf(method)
  return {
    origin: `grpc source "${sourceName}": join through ${methodId(method)} (${method.parent.file.proto.name})`,
    requires,
    ...(variesBy && { variesBy }),
    ...(dependsOn && { dependsOn }),
  }
}
