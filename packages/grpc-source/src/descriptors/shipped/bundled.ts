import type { DescFile } from '@bufbuild/protobuf'
import {
  file_google_protobuf_any,
  file_google_protobuf_api,
  file_google_protobuf_cpp_features,
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_go_features,
  file_google_protobuf_java_features,
  file_google_protobuf_source_context,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_type,
  file_google_protobuf_wrappers,
} from '@bufbuild/protobuf/wkt'
import { SHIPPED_PROTOS } from './protos.ts'

const WELL_KNOWN: readonly DescFile[] = [
  file_google_protobuf_descriptor,
  file_google_protobuf_any,
  file_google_protobuf_source_context,
  file_google_protobuf_type,
  file_google_protobuf_api,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
  file_google_protobuf_cpp_features,
  file_google_protobuf_go_features,
  file_google_protobuf_java_features,
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
