import {
  fromJson,
  ScalarType,
  type DescExtension,
  type DescField,
  type DescMessage,
  type FileRegistry,
  type JsonObject,
  type JsonValue,
} from '@bufbuild/protobuf'
import {
  EnumOptionsSchema,
  EnumValueOptionsSchema,
  FieldOptionsSchema,
  FileOptionsSchema,
  MessageOptionsSchema,
  MethodOptionsSchema,
  OneofOptionsSchema,
  ServiceOptionsSchema,
} from '@bufbuild/protobuf/wkt'
import type { UninterpretedOptions } from './proto-file.ts'
import { resolveInScope } from './proto-names.ts'

const SCHEMAS = {
  file: FileOptionsSchema,
  message: MessageOptionsSchema,
  field: FieldOptionsSchema,
  oneof: OneofOptionsSchema,
  enum: EnumOptionsSchema,
  enumValue: EnumValueOptionsSchema,
  service: ServiceOptionsSchema,
  method: MethodOptionsSchema,
} as const

/** Written like options, but part of the descriptor itself. */
const NOT_OPTIONS = new Set(['json_name', 'default', 'proto3_optional'])

/**
 * Gives a descriptor the options that were written in its `.proto`: the built-in ones and, kept as
 * a compiler keeps them, the extensions.
 * @throws Error that says which option is unknown or holds a wrong value
 */
export function interpretOptions(written: UninterpretedOptions, registry: FileRegistry): void {
  const schema = SCHEMAS[written.kind]
  const json: Record<string, JsonValue> = {}
  const extensions = new Map<DescExtension, unknown[]>()
  for (const entry of written.entries) {
    for (const [name, value] of Object.entries(entry)) {
      if (NOT_OPTIONS.has(name)) continue
      const custom = /^\(([^)]+)\)(?:\.(.+))?$/.exec(name)
      if (!custom) {
        json[name] = value as JsonValue
        continue
      }
      const [, extensionName = '', path] = custom
      const extension = findExtension(extensionName, written, registry, schema.typeName)
      const nested = path === undefined ? value : nest(path.split('.'), value)
      extensions.set(extension, [...(extensions.get(extension) ?? []), nested])
    }
  }
  for (const [extension, values] of extensions) {
    try {
      json[`[${extension.typeName}]`] = toOptionJson(extension, mergeValues(extension, values))
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new Error(`${written.element}, option (${extension.typeName}): ${reason}`, { cause })
    }
  }
  written.target.options = fromJson(schema, json, { ignoreUnknownFields: true, registry })
}

function findExtension(
  name: string,
  { scope, element }: UninterpretedOptions,
  registry: FileRegistry,
  extendee: string,
): DescExtension {
  const extension = resolveInScope(name, scope, (fullName) => registry.getExtension(fullName))
  if (!extension) {
    throw new Error(
      `${element} has the option (${name}), which no imported file defines; import the file that extends ${extendee} with it`,
    )
  }
  if (extension.extendee.typeName !== extendee) {
    throw new Error(
      `${element} has the option (${name}), which belongs on ${extension.extendee.typeName}, not on ${extendee}`,
    )
  }
  return extension
}

function mergeValues(extension: DescExtension, values: readonly unknown[]): unknown {
  if (extension.fieldKind === 'list') return values.flat()
  return values.length === 1 ? values[0] : values.reduce(mergeObjects, {})
}

function mergeObjects(left: unknown, right: unknown): unknown {
  if (!isRecord(left) || !isRecord(right)) return right
  const merged: Record<string, unknown> = { ...left }
  for (const [key, value] of Object.entries(right)) {
    const existing = merged[key]
    if (Array.isArray(existing)) merged[key] = existing.concat(value)
    else merged[key] = key in merged ? mergeObjects(existing, value) : value
  }
  return merged
}

function nest(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)
}

/** Text-format values, as the parser gives them, to protobuf JSON. */
function toOptionJson(field: DescField | DescExtension, value: unknown): JsonValue {
  if (field.fieldKind === 'list') {
    const items: readonly unknown[] = Array.isArray(value) ? value : [value]
    return items.map((item) => toSingleJson(field, item))
  }
  return toSingleJson(field, value)
}

function toSingleJson(field: DescField | DescExtension, value: unknown): JsonValue {
  if (field.message && isRecord(value)) return toMessageJson(field.message, value)
  if (field.enum && typeof value === 'string' && !field.enum.values.some(({ name }) => name === value)) {
    const known = field.enum.values.map(({ name }) => name).join(', ')
    throw new Error(`${field.name} cannot be "${value}", it is one of ${known}`)
  }
  if (field.scalar === ScalarType.BYTES) return Buffer.from(String(value), 'latin1').toString('base64')
  if (field.scalar === ScalarType.STRING) return String(value)
  return value as JsonValue
}

function toMessageJson(message: DescMessage, value: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const field = message.fields.find(({ name, jsonName }) => name === key || jsonName === key)
      if (!field) {
        const known = message.fields.map(({ name }) => name).join(', ')
        throw new Error(`${message.typeName} has no field "${key}", it has: ${known}`)
      }
      return [key, toOptionJson(field, item)]
    }),
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
