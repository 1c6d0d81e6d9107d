import {
  type GraphQLField,
  type GraphQLInputField,
  getNamedType,
  isInputObjectType,
  isObjectType,
  isUnionType,
  type GraphQLSchema,
} from 'graphql'
import type { Finding } from './compare-schemas.ts'
import { bareType } from './coordinates-of.ts'
import { toSnakeCase } from '../../config/file/specification-names.ts'
import { isRootName, ROOT_NAMES } from '../../coordinates.ts'
import { elementOf } from '../../sources/elements.ts'
import { ownCoordinate, type Renamed, type Setting } from './settings.ts'
import type { GatewayConfig } from '../../config/types.ts'
import { lettersOf } from './counterparts.ts'

/** What is known where a setting for a finding is looked for. */
export interface View {
  readonly before: GraphQLSchema
  readonly after: GraphQLSchema
  /** With the settings that are taken already. */
  readonly config: GatewayConfig
}

/** Settings that belong together. */
export type Candidate = readonly Setting[]

/** The names of fields that objects and inputs of this name have. */
export function fieldNamesOf(schema: GraphQLSchema, name: string): readonly string[] {
  const type = schema.getType(name)
  return isObjectType(type) || isInputObjectType(type) ? Object.keys(type.getFields()) : []
}

/** A root field that is on another operation now, under its old name or one that reads alike. */
export function movedFrom(
  { rule, path }: Finding,
  { after }: View,
):
  | { readonly operation: string; readonly name: string; readonly now: readonly [string, string] }
  | undefined {
  const [operation = '', name = ''] = path.split('.')
  if (rule !== 'FIELD_REMOVED' || !isRootName(operation)) return undefined
  const found = Object.values(ROOT_NAMES).flatMap((other) =>
    other === operation
      ? []
      : fieldNamesOf(after, other)
          .filter((field) => lettersOf(field) === lettersOf(name))
          .map((field) => [other, field] as const),
  )
  const [now] = found
  return now && found.length === 1 ? { operation, name, now } : undefined
}

/** Well-known messages by the scalar that stands for one, and a field by which an object is known to be it. */
const WELL_KNOWN: readonly (readonly [scalar: string, field: RegExp, messages: readonly string[]])[] = [
  ['DateTime', /^seconds$/, ['Timestamp']],
  ['Duration', /^seconds$/, ['Duration']],
  ['FieldMask', /^paths$/, ['FieldMask']],
  ['JSON', /^type_?[uU]rl$/, ['Any']],
  ['JSON', /^fields$/, ['Struct']],
  ['JSON', /^values$/, ['ListValue']],
  ['JSON', /_?[vV]alue$/, ['Value']],
  ['Float', /^value$/, ['DoubleValue', 'FloatValue']],
  ['String', /^value$/, ['StringValue', 'Int64Value', 'UInt64Value']],
  ['Long', /^value$/, ['Int64Value', 'UInt64Value']],
  ['BigInt', /^value$/, ['Int64Value', 'UInt64Value']],
  ['Int', /^value$/, ['Int32Value']],
  ['UInt32', /^value$/, ['UInt32Value']],
  ['Boolean', /^value$/, ['BoolValue']],
  ['Bytes', /^value$/, ['BytesValue']],
]

/** What options of gRPC sources may make a finding go away. */
export function ofGrpc(finding: Finding, view: View): readonly Candidate[] {
  const sources = Object.keys(view.config.grpc ?? {})
  if (sources.length === 0) return []
  return [
    ...wellKnown(finding, view, sources),
    ...mapping(finding, view, sources),
    ...ofMethod(finding, view),
    ...ofField(finding, view),
  ]
}

/** Messages that were objects of their fields, and are scalars. */
function wellKnown({ was, is }: Finding, { before }: View, sources: readonly string[]): readonly Candidate[] {
  if (was === undefined || is === undefined) return []
  const [old, now] = [bareType(was), bareType(is)]
  const fields = fieldNamesOf(before, old)
  // Inputs are called as the message is, with `Input` behind.
  const value = isInputObjectType(before.getType(old)) ? old.replace(/_?Input$/, '') : old
  return WELL_KNOWN.filter(([scalar, field]) => scalar === now && fields.some((one) => field.test(one)))
    .flatMap(([, , messages]) => messages)
    .flatMap((message) =>
      sources.map((name) => [{ path: ['grpc', name, 'typeNames', `google.protobuf.${message}`], value }]),
    )
}

/** Options by which a kind of thing is another everywhere. */
function mapping(
  { rule, path, was = '' }: Finding,
  { before }: View,
  sources: readonly string[],
): Candidate[] {
  const all = (option: string, value: Setting['value']): Candidate[] =>
    sources.map((name) => [{ path: ['grpc', name, option], value }])
  const [type = ''] = path.split('.')
  if (rule === 'ENUM_VALUE_ADDED' && path.endsWith('UNSPECIFIED')) return all('hideUnspecified', true)
  if (rule === 'TYPE_REMOVED' && isUnionType(before.getType(type))) return all('oneofs', 'union')
  if (bareType(was) === 'Upload' || (rule === 'TYPE_REMOVED' && type === 'Upload'))
    return all('uploads', true)
  if (rule === 'FIELD_REMOVED' && isRootName(type)) return all('expose', 'all')
  return []
}

/** What a method says of its field: on which operation it is, what it takes and gives. */
function ofMethod(finding: Finding, view: View): readonly Candidate[] {
  const moved = movedFrom(finding, view)
  const [parent = '', name = '', argument] = finding.path.split('.')
  const [type, field] = moved?.now ?? [parent, name]
  if (!isRootName(type)) return []
  const now = fieldOf(view, type, field)
  const element = elementOf(now)
  if (element?.section !== 'grpc' || element.field !== undefined) return []
  const schema = (inside: readonly string[], value: Setting['value']): Setting => ({
    path: ['grpc', element.source, 'methods', element.name, 'schema', ...inside],
    value,
  })
  if (moved) {
    const renamed = field === moved.name ? [] : [schema(['name'], moved.name)]
    return [[schema(['type'], moved.operation.toUpperCase()), ...renamed]]
  }
  if (finding.rule === 'FIELD_ARGUMENT_REMOVED' && argument !== undefined && isWhole(view, parent, name))
    return [[schema(['request', 'name'], argument)]]
  if (finding.rule !== 'FIELD_TYPE_CHANGED') return []
  const { was = '', is = '' } = finding
  const plucked = membersLike(view, bareType(is), bareType(was)).map((member) =>
    schema(['response', 'pluck'], member),
  )
  const required = was.endsWith('!') ? [schema(['response', 'required'], true)] : []
  if (bareType(was) === bareType(is)) return was === `${is}!` ? [required] : []
  return plucked.map((one) => [one, ...required])
}

/** Whether a field took one argument, an object of what it takes now one by one. */
function isWhole({ before }: View, parent: string, name: string): boolean {
  const type = before.getType(parent)
  const { args = [] } = isObjectType(type) ? (type.getFields()[name] ?? {}) : {}
  const [only] = args
  return args.length === 1 && isInputObjectType(only && getNamedType(only.type))
}

/** The proto's names of the fields of a type that give another: what a response may be plucked to. */
function membersLike({ after, before }: View, type: string, wanted: string): readonly string[] {
  const object = after.getType(type)
  if (!isObjectType(object)) return []
  const wantedFields = fieldNamesOf(before, wanted)
  return Object.values(object.getFields()).flatMap((field) => {
    const given = bareType(String(field.type))
    const isIt = given === wanted || fieldNamesOf(after, given).some((one) => wantedFields.includes(one))
    const element = elementOf(field)
    return isIt && element?.section === 'grpc' && element.field !== undefined ? [element.field] : []
  })
}

/** What a field of a message says: whether it is always there, and its default. */
function ofField({ rule, path, was, is }: Finding, view: View): readonly Candidate[] {
  const [parent = '', name = ''] = path.split('.')
  const field = fieldOf(view, parent, name)
  const message = elementOf(view.after.getType(parent))
  const own = elementOf(field) ?? message
  if (own?.section !== 'grpc' || message?.section !== 'grpc') return []
  const { source } = own
  // Fields of inputs do not say what they are: as the config calls it, or the proto.
  const known = ownCoordinate(`${parent}.${name}`, (view.config.grpc?.[source] ?? {}) as Renamed)
  const given = known.split('.')[1] ?? name
  const names = own.field === undefined ? [...new Set([toSnakeCase(given), given])] : [own.field]
  const set = (option: string, value: string | boolean): Candidate[] =>
    names.map((one) => [{ path: ['grpc', source, 'fields', `${message.name}.${one}`, option], value }])
  if (rule === 'INPUT_FIELD_DEFAULT_VALUE_CHANGED' && was !== undefined) return set('default', was)
  if (was === `${is}!`) return set('required', true)
  if (is === `${was}!`) return set('required', false)
  return []
}

function fieldOf(
  { after }: View,
  parent: string,
  name: string,
): GraphQLField<unknown, unknown> | GraphQLInputField | undefined {
  const type = after.getType(parent)
  return isObjectType(type) || isInputObjectType(type) ? type.getFields()[name] : undefined
}
