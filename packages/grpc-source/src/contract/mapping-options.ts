import type { GrpcSourceOptions, MappingOptions } from '../options.ts'

/** How messages look in GraphQL, with the defaults. */
export function toMappingOptions(source: GrpcSourceOptions): MappingOptions {
  const {
    fieldNames = 'camel',
    int64 = 'string',
    stripEnumPrefix = false,
    hideUnspecified = false,
    maps = 'entries',
    oneofs = 'fields',
    uploads = false,
    typeNames = {},
    fields = {},
  } = source
  return { fieldNames, int64, stripEnumPrefix, hideUnspecified, maps, oneofs, uploads, typeNames, fields }
}
