import type { LiveOptions } from '@vinyasa/base'
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

/** The `graphql.schema` option of a method. */
export interface SchemaAnnotation {
  /** The root type. `RESOLVER` methods are not root fields, but resolve fields of messages. Default `QUERY`. */
  readonly type?: 'QUERY' | 'MUTATION' | 'RESOLVER' | 'SUBSCRIPTION' | undefined
  /** The GraphQL field's name. Default: the method's name in camelCase. */
  readonly name?: string | undefined
  /** `name` wraps the request in one argument of that name; `plucks` limits the arguments to these fields. */
  readonly request?:
    | {
        /** Wraps the request in one argument with this name. Default: one argument per request field. */
        readonly name?: string | undefined
        /** The request fields that become arguments. Default: all. */
        readonly plucks?: readonly string[] | undefined
      }
    | undefined
  /** `pluck` returns that field of the response; `required` makes the field non-null. */
  readonly response?:
    | {
        /** Makes the field non-null. Default false. */
        readonly required?: boolean | undefined
        /** The response field with the value. Default: the complete response. */
        readonly pluck?: string | undefined
      }
    | undefined
}

/** The `graphql.field` option of a message's field. */
export interface FieldAnnotation {
  /** Makes the field non-null. Default: declared by the proto (`field_behavior`, `buf.validate`), otherwise nullable. */
  readonly required?: boolean | undefined
  /** The GraphQL name. Default: the proto's, in camelCase. */
  readonly name?: string | undefined
  /** The default value of the argument or input field, in GraphQL syntax. */
  readonly default?: string | undefined
  /** Omits the field. Default false. */
  readonly omit?: boolean | undefined
  /** The field name of the `RESOLVER` or `QUERY` method that returns the value. */
  readonly resolver?: string | undefined
  /** `@external` of Apollo Federation. Default false. */
  readonly external?: boolean | undefined
  /** `@requires` of Apollo Federation: a selection. */
  readonly requires?: string | undefined
  /** `@provides` of Apollo Federation: a selection. */
  readonly provides?: string | undefined
  /** `@shareable` of Apollo Federation. Default false. */
  readonly shareable?: boolean | undefined
  /** The description in the schema. Default: the proto's comment. */
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

/** The GraphQL annotations of protos. They are read by extension number, so any file can declare them. */
export interface Annotations {
  schema(method: DescMethod): SchemaAnnotation | undefined
  /** The `graphql.live_query` option of a method. Specification: "Live query option". */
  liveQuery(method: DescMethod): LiveOptions | undefined
  service(service: DescService): ServiceAnnotation | undefined
  field(field: DescField): FieldAnnotation | undefined
  entity(message: DescMessage): EntityAnnotation | undefined
  /** The values of `google.api.field_behavior`. */
  behavior(field: DescField): readonly string[]
  /** Returns whether `google.api.http` maps the method to a GET, which has no side effects. */
  isHttpGet(method: DescMethod): boolean
  /** Returns whether `buf.validate` requires the field or oneof. */
  validatedRequired(desc: DescField | DescOneof): boolean
}

/** The part of buf.validate that determines nullability, with its real field numbers. */
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
    if (!extension)
      throw new Error(`the protos of @vinyasa/grpc-source do not define the extension ${extensionName}`)
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
  // The casts below match the compiled graphql.proto.
  return {
    schema: (desc) => schema(desc.proto.options) as SchemaAnnotation | undefined,
    liveQuery: (desc) => liveQuery(desc.proto.options) as LiveOptions | undefined,
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
