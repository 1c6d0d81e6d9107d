import { clone, create, type DescExtension, type DescMessage, type FileRegistry } from '@bufbuild/protobuf'
import { mergeFromText } from '@bufbuild/protobuf/txtpb'
import * as wkt from '@bufbuild/protobuf/wkt'
import { reasonOf } from '../../errors.ts'
import { resolveInScope } from '../proto-names.ts'
import type { OptionTarget, UninterpretedOptions } from './context.ts'
import type { OptionNamePart, WrittenOption } from './option-text.ts'

/**
 * The custom options that a source reads, by number, whatever file declares them: `graphql.*` (1079, 1080),
 * `google.api.field_behavior` (1052), `google.api.http` (72295728) and `buf.validate` (1159).
 */
const READ: Readonly<Record<string, readonly number[]>> = {
  'google.protobuf.ServiceOptions': [1079],
  'google.protobuf.MessageOptions': [1079],
  'google.protobuf.MethodOptions': [1079, 1080, 72_295_728],
  'google.protobuf.FieldOptions': [1079, 1052, 1159],
  'google.protobuf.OneofOptions': [1159],
}

function isReadExtension({ extendee, number }: DescExtension): boolean {
  return READ[extendee.typeName]?.includes(number) === true
}

const SCHEMAS = {
  file: wkt.FileOptionsSchema,
  message: wkt.MessageOptionsSchema,
  field: wkt.FieldOptionsSchema,
  oneof: wkt.OneofOptionsSchema,
  enum: wkt.EnumOptionsSchema,
  enumValue: wkt.EnumValueOptionsSchema,
  service: wkt.ServiceOptionsSchema,
  method: wkt.MethodOptionsSchema,
} as const satisfies Record<OptionTarget, DescMessage>

/** The built-in options that change what a schema or a call is. All others may hold what they like. */
const READ_BUILT_IN = new Set([
  'deprecated',
  'features',
  'idempotency_level',
  'message_set_wire_format',
  'packed',
])

/**
 * Gives a descriptor those built-in options that are read. Needs no other file: a registry is built from the result.
 * @throws Error that names the element, the option and what is wrong with it
 */
export function interpretBuiltIn(options: UninterpretedOptions): void {
  for (const entry of options.entries) {
    const [first, ...path] = entry.name
    if (!first || first.isExtension || !READ_BUILT_IN.has(first.name)) continue
    // `features.(pb.go).…` is for one language's generator.
    if (path.some(({ isExtension }) => isExtension)) continue
    merge(options, entry, nest(first.name, path, entry.value))
  }
}

/**
 * Gives a descriptor those extensions that are read, as a compiler keeps them. Others stay text: no file that is made
 * for another tool can stop a start.
 * @param leaveOut told of an option of another tool that is wrong
 * @throws Error that names the element, an option of `graphql.*` and what is wrong with it
 */
export function interpretExtensions(
  written: UninterpretedOptions,
  registry: FileRegistry,
  leaveOut: (message: string) => void,
): void {
  for (const entry of written.entries) {
    const [first, ...path] = entry.name
    if (!first?.isExtension) continue
    const extension = findExtension(first.name, written, registry)
    if (!extension || !isReadExtension(extension)) continue
    const text = nest(`[${extension.typeName}]`, path, entry.value)
    try {
      merge(written, entry, text, registry)
    } catch (error) {
      if (extension.typeName.startsWith('graphql.') || !(error instanceof Error)) throw error
      leaveOut(error.message)
    }
  }
}

function findExtension(
  name: string,
  { scope, element, kind }: UninterpretedOptions,
  registry: FileRegistry,
): DescExtension | undefined {
  const extension = resolveInScope(name, scope, (fullName) => registry.getExtension(fullName))
  const extendee = SCHEMAS[kind].typeName
  if (!extension) {
    // The one package whose options are ours to know: a name that is none of them is a mistake.
    if (!/^\.?graphql\./.test(name)) return undefined
    throw new Error(
      `${element} has the option (${name}), which is not defined in any imported file; correct the name, or import the file that extends ${extendee} with this option`,
    )
  }
  if (extension.extendee.typeName !== extendee) {
    throw new Error(
      `${element} has the option (${name}), which extends ${extension.extendee.typeName} instead of ${extendee}; move the option to an element with ${extension.extendee.typeName}, or remove the option`,
    )
  }
  return extension
}

function merge(
  { target, kind, element }: UninterpretedOptions,
  { name }: WrittenOption,
  text: string,
  registry?: FileRegistry,
): void {
  const schema: DescMessage = SCHEMAS[kind]
  // Beside the options that are there: one that turns out to be wrong leaves nothing behind.
  const merged = target.options ? clone(schema, target.options) : create(schema)
  try {
    mergeFromText(schema, merged, text, registry ? { registry } : {})
    target.options = merged
  } catch (cause) {
    throw new Error(`${element}, option ${toText(name)}: ${reasonOf(cause)}`, { cause })
  }
}

/** `a` with the path `b.c` and the value `1`: `a { b { c: 1 } }`. */
function nest(name: string, path: readonly OptionNamePart[], value: string): string {
  const [first, ...rest] = path
  if (!first) return `${name}: ${value}`
  return `${name} { ${nest(first.isExtension ? `[${first.name}]` : first.name, rest, value)} }`
}

function toText(name: readonly OptionNamePart[]): string {
  return name.map((part) => (part.isExtension ? `(${part.name})` : part.name)).join('.')
}
