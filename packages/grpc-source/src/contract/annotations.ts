import type { LiveOptions } from '@vinyasa/core'
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

type Annotated = DescMethod | DescService | DescField | DescMessage | DescOneof

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

  /** `T` matches the extension's type in the compiled protos. */
  function reader<T>(extensionName: string): (desc: Annotated) => T | undefined {
    const extension = registry.getExtension(extensionName)
    if (!extension)
      throw new Error(`the protos of @vinyasa/grpc-source do not define the extension ${extensionName}`)
    return (desc) => readExtension(desc.proto.options, extension) as T | undefined
  }

  const behavior = reader<readonly string[]>('google.api.field_behavior')
  const http = reader<{ readonly get?: string }>('google.api.http')
  const fieldRules = reader<{ readonly required?: boolean }>('vinyasa.validate.field')
  const oneofRules = reader<{ readonly required?: boolean }>('vinyasa.validate.oneof')
  return {
    schema: reader('graphql.schema'),
    liveQuery: reader('graphql.live_query'),
    service: reader('graphql.service'),
    field: reader('graphql.field'),
    entity: reader('graphql.entity'),
    behavior: (desc) => behavior(desc) ?? [],
    isHttpGet: (desc) => http(desc)?.get !== undefined,
    validatedRequired: (desc) =>
      (desc.kind === 'field' ? fieldRules(desc) : oneofRules(desc))?.required === true,
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
