import type { DescMessage } from '@bufbuild/protobuf'
import {
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  isNonNullType,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldConfigMap,
  type GraphQLFieldResolver,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  getNamedType,
  isObjectType,
  type GraphQLNamedType,
  type SelectionSetNode,
} from 'graphql'
import { offerField, recordedRoot, renamedStatements, memberIn, ownNameOf } from '@vinyasa/source-kit'
import { createAnnouncement, outcomeOf, type Announcement, type MutationOptions } from './invalidation.ts'
import type { Contract } from '../contract/contract.ts'
import { requestIn, type Arguments, type ExposedMethod } from '../contract/methods.ts'
import { grpcFastPath } from './grpc-fast-path.ts'
import { marks, type PlannableField } from '../json/planned-field.ts'
import type { OperationInfo } from '../methods/operation.ts'
import type { MethodRuntime } from '../methods/method-runtime.ts'
import type { Shapes, FieldShape, MessageShape } from '../contract/shapes.ts'
import type { TypeBuilder } from '../mapping/types.ts'
import { collectFields } from '@vinyasa/core/documents'

/** The request field that takes a mask, if there is one. */
function maskField(shapes: Shapes, request: DescMessage): FieldShape | undefined {
  return shapes
    .message(request)
    .fields.find(
      ({ desc, value }) =>
        (desc.name === 'read_mask' || desc.name === 'field_mask') &&
        value.kind === 'wellKnown' &&
        value.type === 'google.protobuf.FieldMask',
    )
}

/** Fragments in fragments multiply paths. Of more than these the whole message is less than their mask. */
const MAX_FIELDS = 1_000

/**
 * The paths of a field's selection, relative to `message`. Undefined, which asks for everything, where another source
 * resolves a selected field from parts of the message that nobody knows, or the selection is too large.
 */
function selectionMask(info: GraphQLResolveInfo, shapes: Shapes, message: DescMessage): string[] | undefined {
  const paths = new Set<string>()
  const fragments = new Map(Object.entries(info.fragments))
  const root = info.fieldNodes.flatMap(({ selectionSet }) => selectionSet ?? [])
  let count = 0
  const isKnown = collect(root, shapes.message(message), getNamedType(info.returnType), '')
  return isKnown ? [...paths] : undefined

  function collect(
    sets: readonly SelectionSetNode[],
    shape: MessageShape,
    type: GraphQLNamedType | undefined,
    prefix: string,
  ): boolean {
    const object = isObjectType(type) ? type : undefined
    const fields = [...collectFields({ fragments }, sets).values()].flat()
    return fields.every((selection) => {
      if (++count > MAX_FIELDS) return false
      const name = selection.name.value
      if (name.startsWith('__')) return true
      const definition = object?.getFields()[name]
      const requires = definition?.extensions['requires']
      if (object && requires !== undefined) return addRequired(shape, object, requires, prefix)
      const own = definition ? ownNameOf(definition) : name
      const field = shape.fields.find((candidate) => candidate.name === own && !candidate.annotation.resolver)
      if (!field) return false
      const path = `${prefix}${field.desc.name}`
      // A mask cannot reach into lists and maps.
      if (field.value.kind !== 'message' || field.cardinality !== 'single' || !selection.selectionSet) {
        paths.add(path)
        return true
      }
      const nested = shapes.message(field.value.message)
      const below = definition && getNamedType(definition.type)
      return collect([selection.selectionSet], nested, below, `${path}.`)
    })
  }

  /** A join says which fields of its parent it reads. */
  function addRequired(
    shape: MessageShape,
    type: GraphQLObjectType,
    required: unknown,
    prefix: string,
  ): boolean {
    if (!Array.isArray(required)) return false
    return required.every((wanted) => {
      const own = memberIn(type, String(wanted))
      const field = shape.fields.find((candidate) => candidate.name === own)
      if (field) paths.add(`${prefix}${field.desc.name}`)
      return field !== undefined
    })
  }
}

export type RootField = GraphQLFieldConfig<unknown, unknown, Arguments>

export interface RootFieldOptions extends MutationOptions, Pick<Contract, 'shapes' | 'variesBy'> {
  readonly types: TypeBuilder
  readonly sourceName: string
  /** Tells the source's fields from all others. */
  readonly sourceId: string
  readonly fieldMasks: boolean
  /** For plans; undefined without them. */
  readonly plannable: Pick<PlannableField, 'codecs' | 'transcoder' | 'turns'> | undefined
}

/** The GraphQL field of a query, mutation or subscription method. */
export function createRootField(
  method: ExposedMethod,
  runtime: MethodRuntime,
  options: RootFieldOptions,
): RootField {
  const { types, shapes, sourceName, sourceId, variesBy, announcer } = options
  const type = responseType(method, options)
  const base = {
    type,
    args: requestArguments(method, types),
    description: runtime.description,
    deprecationReason: method.desc.deprecated ? 'deprecated in the proto' : undefined,
    extensions: {
      origin: `grpc source "${sourceName}": ${method.origin}`,
      source: sourceId,
      ...(variesBy && { variesBy }),
      ...renamedStatements(
        { ...statementsOf(method), ...(method.liveQuery && { liveQuery: method.liveQuery }) },
        options.typesMeant(method.desc),
      ),
    },
  }
  const withMask = createMasker(method, options)
  if (method.type === 'SUBSCRIPTION') {
    return {
      ...base,
      subscribe: (_source, args, context, info) =>
        runtime.stream(args, { context, info: info as OperationInfo }),
      resolve: (event) => runtime.pluck(event),
    }
  }
  if (method.type === 'QUERY') {
    const { plannable } = options
    const resolve: GraphQLFieldResolver<unknown, unknown, Arguments> = async (
      _source,
      args,
      context,
      info,
    ) => {
      const recorded = recordedRoot(info)
      if (recorded) return recorded()
      return runtime.pluck(
        await runtime.unary(withMask(args, info), { context, info: info as OperationInfo }),
      )
    }
    if (plannable && method.desc.methodKind === 'unary') {
      const { desc } = method
      const pluck = shapes.message(desc.output).fields.find((field) => field.desc === method.responsePluck)
      marks.mark(resolve, {
        kind: 'method',
        method: { ...plannable, runtime, output: desc.output, pluck, withMask },
      })
      offerField(resolve, grpcFastPath)
    }
    return { ...base, resolve }
  }
  let announcement: Announcement | undefined
  const announce: Announcement = (...call) => {
    announcement ??= createAnnouncement(method, options)
    return announcement(...call)
  }
  return {
    ...base,
    resolve: (_source, args, context, info) =>
      announcer.run({
        call: async () => runtime.pluck(await runtime.unary(args, { context, info: info as OperationInfo })),
        outcomeOf,
        changes(result) {
          const { schema, parentType, fieldName } = info
          return announce(args, result, { schema, field: parentType.getFields()[fieldName] })
        },
      }),
  }
}

/**
 * Returns what the method's author states. An author who says what a mutation announces has said what it
 * changes.
 */
function statementsOf({ settings, liveQuery, type }: ExposedMethod): Record<string, readonly string[]> {
  const { invalidates } = settings
  const announced =
    type === 'MUTATION' && invalidates ? [invalidates].flat().map(({ entityType }) => entityType) : undefined
  const changes = settings.changes ?? announced
  // A list that the proto leaves empty states nothing.
  const dependsOn = settings.dependsOn ?? (liveQuery?.dependsOn?.length ? liveQuery.dependsOn : undefined)
  return { ...(dependsOn && { dependsOn }), ...(changes && { changes }) }
}

/** Adds the selection to the request, where the request takes it and the client sent no mask. */
function createMasker(
  method: ExposedMethod,
  options: RootFieldOptions,
): (args: Arguments, info: GraphQLResolveInfo) => Arguments {
  const { shapes, fieldMasks } = options
  const takesMask = fieldMasks && method.desc.methodKind !== 'client_streaming'
  const field = takesMask ? maskField(shapes, method.desc.input) : undefined
  const { wrapRequest } = method
  const message = method.responsePluck ? method.responsePluck.message : method.desc.output
  if (!field || !message) return (args) => args
  return (args, info) => {
    const request = requestIn(args, wrapRequest)
    const paths = request[field.name] === undefined ? selectionMask(info, shapes, message) : undefined
    if (!paths || paths.length === 0) return args
    const masked = { ...request, [field.name]: paths }
    return wrapRequest === undefined ? masked : { ...args, [wrapRequest]: masked }
  }
}

/** The response, or the field plucked from it. */
export function responseType(
  method: ExposedMethod,
  { types, shapes }: Pick<RootFieldOptions, 'types' | 'shapes'>,
): GraphQLOutputType {
  const { responsePluck } = method
  const plucked =
    responsePluck && shapes.message(method.desc.output).fields.find(({ desc }) => desc === responsePluck)
  const type = plucked ? types.outputOf(plucked) : types.output(method.desc.output)
  return method.responseRequired && !isNonNullType(type) ? new GraphQLNonNull(type) : type
}

/** One argument for the whole request, or one for each of its fields. */
export function requestArguments(method: ExposedMethod, types: TypeBuilder): GraphQLFieldConfigArgumentMap {
  if (method.desc.methodKind === 'client_streaming' && method.wrapRequest !== undefined) {
    const requests = new GraphQLList(new GraphQLNonNull(types.input(method.desc.input)))
    return { [method.wrapRequest]: { type: new GraphQLNonNull(requests) } }
  }
  const fields = types.inputFields(method.desc.input, method.plucks)
  if (Object.keys(fields).length === 0) return {}
  if (method.wrapRequest === undefined) return fields
  const needed = Object.values(fields).some(
    ({ type, defaultValue }) => isNonNullType(type) && defaultValue === undefined,
  )
  const input = types.input(method.desc.input)
  return { [method.wrapRequest]: { type: needed ? new GraphQLNonNull(input) : input } }
}

/** A root type, where there are fields for it. */
export function rootType(
  name: string,
  fields: GraphQLFieldConfigMap<unknown, unknown>,
): GraphQLObjectType | undefined {
  return Object.keys(fields).length === 0 ? undefined : new GraphQLObjectType({ name, fields })
}
