import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { DescFile } from '@bufbuild/protobuf'
import {
  file_google_protobuf_any,
  file_google_protobuf_api,
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_source_context,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_type,
  file_google_protobuf_wrappers,
} from '@bufbuild/protobuf/wkt'
import { PROTO_FOLDER } from '../proto-folder.ts'

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
]

const SHIPPED = new Set([
  'graphql.proto',
  'google/api/annotations.proto',
  'google/api/field_behavior.proto',
  'google/api/http.proto',
  'google/rpc/error_details.proto',
  'google/rpc/status.proto',
  'grpc/health/v1/health.proto',
  'grpc/reflection/v1/reflection.proto',
])

/** A `google/protobuf/*.proto` that every compiler brings along. */
export function wellKnownFile(importPath: string): DescFile | undefined {
  return WELL_KNOWN.find((file) => `${file.name}.proto` === importPath)
}

/** The text of a proto that comes with this package; `graphql.proto` is found in any folder. */
export function shippedProto(importPath: string): string | undefined {
  const name = importPath.endsWith('/graphql.proto') ? 'graphql.proto' : importPath
  if (!SHIPPED.has(name)) return undefined
  return readFileSync(fileURLToPath(new URL(name, PROTO_FOLDER)), 'utf8')
}
