import { WELL_KNOWN, type RequestField, type Syntax } from './request-fields.ts'

/** What an edition's file states for all its fields; a field that differs says so itself. */
export interface FileDefaults {
  readonly implicit: boolean
  readonly delimited: boolean
  readonly expanded: boolean
}

const IMPORTS = ['timestamp', 'duration', 'wrappers'].map((file) => `import "google/protobuf/${file}.proto";`)
const WITHOUT_PACKED = new Set(['string', 'bytes'])

/** The text of a file with the messages, and a service that takes the first of them. */
export function printProto(
  syntax: Syntax,
  packageName: string,
  messages: ReadonlyMap<string, readonly RequestField[]>,
  defaults: FileDefaults,
): string {
  const isEdition = !syntax.startsWith('proto')
  const head = isEdition ? `edition = "${syntax}";` : `syntax = "${syntax}";`
  const print = isEdition
    ? (_owner: string, field: RequestField): string => inEdition(field, defaults)
    : (owner: string, field: RequestField): string => inSyntax(owner, field, syntax)
  const printed = [...messages].map(
    ([name, fields]) => `message ${name} {\n${fields.map((field) => `  ${print(name, field)}\n`).join('')}}`,
  )
  const odd = `enum Odd { ${isEdition ? 'option features.enum_type = CLOSED; ' : ''}FIVE = 5; NIL = 0; }`
  return `${head} package ${packageName};
${IMPORTS.join('\n')}
${isEdition ? fileFeatures(defaults) : ''}
enum Kind { ZERO = 0; ONE = 1; MINUS = -1; }
${syntax === 'proto3' ? '' : odd}
message Nothing {}
message Answered { repeated int32 n = 1; }
${printed.join('\n')}
service S { rpc Get(M0) returns (Answered); }
`
}

/** A group of proto2 defines a message of its own. */
export function groupName(owner: string, name: string): string {
  return `G${owner}${name}`
}

export function camel(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, char: string) => char.toUpperCase())
}

function fileFeatures({ implicit, delimited, expanded }: FileDefaults): string {
  const features = [
    ...(implicit ? ['field_presence = IMPLICIT'] : []),
    ...(delimited ? ['message_encoding = DELIMITED'] : []),
    ...(expanded ? ['repeated_field_encoding = EXPANDED'] : []),
  ]
  return features.map((feature) => `option features.${feature};`).join('\n')
}

function inSyntax(owner: string, field: RequestField, syntax: Syntax): string {
  const { name, number, form, presence, key } = field
  const type = fullType(field)
  const options = bracketed(field, isPackable(field) ? [`packed = ${field.isPacked}`] : [])
  const group = `group ${groupName(owner, name)} = ${number} { required ${type} in = 1; required int32 n = 2; }`
  switch (form) {
    case 'map':
      return `map<${key}, ${type}> ${name} = ${number};`
    case 'list':
      return `repeated ${type} ${name} = ${number}${options};`
    case 'groups':
      return `repeated ${group}`
    case 'group':
      return `${presence === 'required' ? 'required' : 'optional'} ${group}`
    case 'arm':
      return inOneof(field, `${type} ${name} = ${number}${options};`)
    default: {
      const isBare = syntax === 'proto3' && (presence === 'implicit' || isMessage(field))
      return `${isBare ? '' : presence === 'required' ? 'required ' : 'optional '}${type} ${name} = ${number}${options};`
    }
  }
}

function inEdition(field: RequestField, defaults: FileDefaults): string {
  const { name, number, form, presence, key } = field
  const type = fullType(field)
  if (form === 'map') return `map<${key}, ${type}> ${name} = ${number};`
  const isList = form === 'list' || form === 'groups'
  const isDelimited = form === 'group' || form === 'groups'
  const isImplicit = presence === 'implicit'
  const features = [
    ...(presence === 'required' ? ['features.field_presence = LEGACY_REQUIRED'] : []),
    ...(form === 'single' && presence !== 'required' && !isMessage(field) && isImplicit !== defaults.implicit
      ? [`features.field_presence = ${isImplicit ? 'IMPLICIT' : 'EXPLICIT'}`]
      : []),
    ...(isMessage(field) && isDelimited !== defaults.delimited
      ? [`features.message_encoding = ${isDelimited ? 'DELIMITED' : 'LENGTH_PREFIXED'}`]
      : []),
    ...(isPackable(field) && field.isPacked === defaults.expanded
      ? [`features.repeated_field_encoding = ${field.isPacked ? 'PACKED' : 'EXPANDED'}`]
      : []),
  ]
  const line = `${type} ${name} = ${number}${bracketed(field, features)};`
  return form === 'arm' ? inOneof(field, line) : `${isList ? 'repeated ' : ''}${line}`
}

function inOneof({ name, number }: RequestField, line: string): string {
  return `oneof of_${name} { ${line} bool other_${name} = ${number + 5000}; }`
}

function fullType({ type }: RequestField): string {
  return WELL_KNOWN.includes(type) ? `google.protobuf.${type}` : type
}

function isMessage({ type }: RequestField): boolean {
  return /^M\d$|^Nothing$/.test(type) || WELL_KNOWN.includes(type)
}

function isPackable(field: RequestField): boolean {
  return field.form === 'list' && !isMessage(field) && !WITHOUT_PACKED.has(field.type)
}

function bracketed(field: RequestField, options: readonly string[]): string {
  const isDefaultAllowed = field.hasDefault && (field.form === 'single' || field.form === 'arm')
  const all = [...options, ...(isDefaultAllowed ? [`default = ${defaultOf(field.type)}`] : [])]
  return all.length > 0 ? ` [${all.join(', ')}]` : ''
}

function defaultOf(type: string): string {
  switch (type) {
    case 'string':
    case 'bytes':
      return '"other"'
    case 'bool':
      return 'true'
    case 'Kind':
      return 'ONE'
    case 'Odd':
      return 'FIVE'
    default:
      return '5'
  }
}
