import {
  getExtension,
  hasExtension,
  toJson,
  type DescExtension,
  type DescField,
  type DescMessage,
  type DescMethod,
  type DescOneof,
  type DescService,
  type JsonValue,
  type Message,
} from '@bufbuild/protobuf'
import { compileProtoText } from '../descriptors/proto-text.ts'

/** `graphql.schema` of a method: how it appears in GraphQL. */
export interface SchemaAnnotation {
  /** The root type; `RESOLVER` methods are no root fields but resolve fields of messages. Default `QUERY`. */
  readonly type?: 'QUERY' | 'MUTATION' | 'RESOLVER' | 'SUBSCRIPTION' | undefined
  /** The GraphQL field's name. Default: the method's name in camelCase. */
  readonly name?: string | undefined
  /** `name` wraps the request in one argument of that name; `plucks` limits the arguments to these fields. */
  readonly request?:
    | { readonly name?: string | undefined; readonly plucks?: readonly string[] | undefined }
    | undefined
  /** `pluck` returns that field of the response; `required` makes the field non-null. */
  readonly response?:
    | { readonly required?: boolean | undefined; readonly pluck?: string | undefined }
    | undefined
}

/** `graphql.live_query` of a method. Specification: "Live query option". */
export interface LiveQueryAnnotation {
  readonly enabled?: boolean | undefined
  readonly strategy?: 'INVALIDATION' | 'POLLING' | 'HASH_DIFF' | undefined
  readonly triggers?: readonly string[] | undefined
  readonly throttleMs?: number | undefined
  readonly pollIntervalMs?: number | undefined
  readonly ttlSeconds?: number | undefined
  readonly maxConnections?: number | undefined
  readonly dependsOn?: readonly string[] | undefined
  readonly volatility?: 'VERY_HIGH' | 'HIGH' | 'MEDIUM' | 'LOW' | 'VERY_LOW' | undefined
}

export interface FieldAnnotation {
  readonly required?: boolean | undefined
  readonly name?: string | undefined
  readonly default?: string | undefined
  readonly omit?: boolean | undefined
  readonly resolver?: string | undefined
  readonly external?: boolean | undefined
  readonly requires?: string | undefined
  readonly provides?: string | undefined
  readonly shareable?: boolean | undefined
  readonly description?: string | undefined
}

export interface EntityAnnotation {
  readonly keys?: readonly string[] | undefined
  readonly extend?: boolean | undefined
  readonly resolvable?: boolean | undefined
}

export interface ServiceAnnotation {
  readonly host?: string | undefined
  readonly insecure?: boolean | undefined
}

/** What the protos say about GraphQL, read by extension number whatever file declares them. */
export interface Annotations {
  schema(method: DescMethod): SchemaAnnotation | undefined
  liveQuery(method: DescMethod): LiveQueryAnnotation | undefined
  service(service: DescService): ServiceAnnotation | undefined
  field(field: DescField): FieldAnnotation | undefined
  entity(message: DescMessage): EntityAnnotation | undefined
  /** The values of `google.api.field_behavior`. */
  behavior(field: DescField): readonly string[]
  /** `google.api.http` maps the method to a GET, which changes nothing. */
  isHttpGet(method: DescMethod): boolean
  /** `buf.validate` says that the field or oneof must be set. */
  validatedRequired(desc: DescField | DescOneof): boolean
}

/** The little of buf.validate that decides nullability; the numbers are the real ones. */
const VALIDATE = `
syntax = "proto3";
package vinyasa.validate;
import "google/protobuf/descriptor.proto";
message FieldRules { bool required = 25; }
message OneofRules { bool required = 1; }
extend google.protobuf.FieldOptions { FieldRules field = 1159; }
extend google.protobuf.OneofOptions { OneofRules oneof = 1159; }
`

export async function createAnnotations(): Promise<Annotations> {
  const { registry } = await compileProtoText({
    protoFiles: ['graphql.proto', 'google/api/field_behavior.proto', 'google/api/annotations.proto'],
    protoText: { 'vinyasa/validate.proto': VALIDATE },
  })

  function reader(extensionName: string): (options: Message | undefined) => JsonValue | undefined {
    const extension = registry.getExtension(extensionName)
    if (!extension) throw new Error(`${extensionName} is not part of this package's protos`)
    return (options) => readExtension(options, extension)
  }

  const schema = reader('graphql.schema')
  const liveQuery = reader('graphql.live_query')
  const service = reader('graphql.service')
  const field = reader('graphql.field')
  const entity = reader('graphql.entity')
  const behavior = reader('google.api.field_behavior')
  const http = reader('google.api.http')
  const fieldRules = reader('vinyasa.validate.field')
  const oneofRules = reader('vinyasa.validate.oneof')
  // The shapes below are what the compiled graphql.proto can hold, and nothing else.
  return {
    schema: (desc) => schema(desc.proto.options) as SchemaAnnotation | undefined,
    liveQuery: (desc) => liveQuery(desc.proto.options) as LiveQueryAnnotation | undefined,
    service: (desc) => service(desc.proto.options) as ServiceAnnotation | undefined,
    field: (desc) => field(desc.proto.options) as FieldAnnotation | undefined,
    entity: (desc) => entity(desc.proto.options) as EntityAnnotation | undefined,
    behavior: (desc) => (behavior(desc.proto.options) ?? []) as readonly string[],
    isHttpGet: (desc) => (http(desc.proto.options) as { get?: string } | undefined)?.get !== undefined,
    validatedRequired(desc) {
      const rules = desc.kind === 'field' ? fieldRules(desc.proto.options) : oneofRules(desc.proto.options)
      return (rules as { required?: boolean } | undefined)?.required === true
    },
  }
}

function readExtension(options: Message | undefined, extension: DescExtension): JsonValue | undefined {
  if (!options || !hasExtension(options, extension)) return undefined
  const value = getExtension(options, extension)
  if (extension.message) return toJson(extension.message, value as Message)
  if (extension.fieldKind === 'list' && extension.enum) {
    const names = extension.enum.value
    return (value as readonly number[]).flatMap((number) => names[number]?.name ?? [])
  }
  return value as JsonValue
}
