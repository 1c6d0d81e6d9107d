import type { DescFile } from '@bufbuild/protobuf'
import * as wkt from '@bufbuild/protobuf/wkt'
import { SHIPPED_PROTOS } from './protos.ts'

const WELL_KNOWN: readonly DescFile[] = [
  wkt.file_google_protobuf_descriptor,
  wkt.file_google_protobuf_any,
  wkt.file_google_protobuf_source_context,
  wkt.file_google_protobuf_type,
  wkt.file_google_protobuf_api,
  wkt.file_google_protobuf_duration,
  wkt.file_google_protobuf_empty,
  wkt.file_google_protobuf_field_mask,
  wkt.file_google_protobuf_struct,
  wkt.file_google_protobuf_timestamp,
  wkt.file_google_protobuf_wrappers,
  wkt.file_google_protobuf_cpp_features,
  wkt.file_google_protobuf_go_features,
  wkt.file_google_protobuf_java_features,
]

/** A `google/protobuf/*.proto` that every compiler brings along. */
export function wellKnownFile(importPath: string): DescFile | undefined {
  return WELL_KNOWN.find((file) => `${file.name}.proto` === importPath)
}

/** The file that defines a type, of those that come along. */
export function shippedFileOf(fullName: string): string | undefined {
  const wellKnown = WELL_KNOWN.find(({ messages, enums }) =>
    [...messages, ...enums].some(({ typeName }) => typeName === fullName),
  )
  if (wellKnown) return `${wellKnown.name}.proto`
  const dot = fullName.lastIndexOf('.')
  const head = `package ${fullName.slice(0, Math.max(dot, 0))};`
  const type = new RegExp(`^(?:message|enum) ${fullName.slice(dot + 1)} `, 'm')
  return [...SHIPPED_PROTOS].find(([, text]) => text.includes(head) && type.test(text))?.[0]
}

/** A proto that comes with this package, by its own name; `graphql.proto` is found in any folder. */
export function shippedProto(
  importPath: string,
): { readonly name: string; readonly text: string } | undefined {
  const name = importPath.endsWith('/graphql.proto') ? 'graphql.proto' : importPath
  const text = SHIPPED_PROTOS.get(name)
  return text === undefined ? undefined : { name, text }
}
