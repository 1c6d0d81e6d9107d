import type { DescEnum, DescMessage, ScalarType } from '@bufbuild/protobuf'
import {
  GraphQLBoolean,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  type GraphQLOutputType,
} from 'graphql'
import type { Annotations } from '../contract/annotations.ts'
import type { Comments } from '../descriptors/comments.ts'
import type { Finding } from '../errors.ts'
import { entityDirectives, fieldDirectives } from './federation.ts'
import { flagResolver } from './flags.ts'
import { createInputTypes, type InputTypes } from './input-types.ts'
import type { TypeNames } from '../contract/names.ts'
import { canReadAsNull, createLeafTypes, createOnce, describeType } from './leaf-types.ts'
import {
  partName,
  type FieldShape,
  type MessageShape,
  type Shapes,
  type ValueKind,
} from '../contract/shapes.ts'
import { createUnions } from './unions.ts'
import { isWellKnown } from '../contract/well-known.ts'

/** Builds GraphQL types from shapes, on demand and once each. */
export interface TypeBuilder extends InputTypes {
  output(message: DescMessage): GraphQLOutputType
  /** The type of a field's value, with list and nullability. */
  outputOf(field: FieldShape): GraphQLOutputType
}

export interface TypeBuilderOptions {
  readonly shapes: Shapes
  readonly names: TypeNames
  readonly comments: Comments
  readonly annotations: Annotations
  readonly sourceName: string
  readonly findings: Finding[]
  /** The field that an RPC resolves, for `(graphql.field).resolver`. */
  readonly resolverField: (
    message: DescMessage,
    field: FieldShape,
  ) => GraphQLFieldConfig<unknown, unknown> | undefined
}

export function createTypeBuilder(options: TypeBuilderOptions): TypeBuilder {
  const { shapes, names, comments, annotations, sourceName, findings, resolverField } = options
  const { options: mapping } = shapes
  const once = createOnce(names)
  const leaves = createLeafTypes({ shapes, names, comments, once, origin })
  const { customScalar, scalarType, wellKnownType, enumType } = leaves
  const unions = createUnions({ shapes, names, outputValue, origin })
  const inputs = createInputTypes({ shapes, names, comments, findings, once, leaves, origin })

  function outputType(desc: DescMessage): GraphQLOutputType {
    if (isWellKnown(desc.typeName)) return wellKnownType(desc.typeName, 'output')
    const shape = shapes.message(desc)
    if (!shape.fields.some(({ inOutput }) => inOutput)) return GraphQLBoolean
    return once(desc.typeName, names.of(desc), (name) => {
      return new GraphQLObjectType({
        name,
        description: comments.of(desc),
        fields: () => outputFields(shape),
        extensions: {
          origin: origin(desc),
          ...entityDirectives(annotations.entity(desc)),
          ...hiddenFields(name, shape),
        },
      })
    })
  }

  /** What clients do not see of a message, joins may still be keyed by. */
  function hiddenFields(name: string, { fields }: MessageShape): { readonly hidden?: GraphQLObjectType[] } {
    const unseen = fields.filter((field) => !field.inOutput || isArm(field))
    if (unseen.length === 0) return {}
    const hidden = new GraphQLObjectType({
      name: `${name}Hidden`,
      fields: () => Object.fromEntries(unseen.map((field) => [field.name, { type: outputOf(field) }])),
    })
    return { hidden: [hidden] }
  }

  function outputFields(shape: MessageShape): GraphQLFieldConfigMap<unknown, unknown> {
    const fields: GraphQLFieldConfigMap<unknown, unknown> = {}
    for (const field of shape.fields) {
      if (!field.inOutput) continue
      if (field.annotation.resolver) {
        const resolved = resolverField(shape.desc, field)
        if (resolved) fields[field.name] = resolved
        continue
      }
      const { oneof } = field
      if (oneof && isArm(field)) {
        fields[oneof.name] ??= unions.field(shape, oneof)
        continue
      }
      fields[field.name] = {
        type: outputOf(field),
        description: field.annotation.description || comments.of(field.desc),
        deprecationReason: field.desc.deprecated ? 'deprecated in the proto' : undefined,
        extensions: {
          origin: `${origin(shape.desc)} field ${field.desc.name}`,
          ...fieldDirectives(field.annotation),
        },
        ...(field.cardinality !== 'map' && isFlag(field)
          ? { resolve: flagResolver(field.name, field.cardinality === 'list') }
          : {}),
      }
    }
    return fields
  }

  /** Clients see the oneof, as a union. */
  function isArm({ oneof }: FieldShape): boolean {
    return mapping.oneofs === 'union' && oneof !== undefined
  }

  function isFlag({ value }: FieldShape): boolean {
    return value.kind === 'message' && outputType(value.message) === GraphQLBoolean
  }

  function outputOf(field: FieldShape): GraphQLOutputType {
    const type = outputValue(field.value)
    if (field.cardinality === 'map') {
      if (mapping.maps === 'json') return new GraphQLNonNull(customScalar('JSON'))
      return new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(entryType(field, type))))
    }
    if (field.cardinality === 'list') {
      const item = canReadAsNull(field.value) ? type : new GraphQLNonNull(type)
      return new GraphQLNonNull(new GraphQLList(item))
    }
    // Elsewhere the author's word stands; an enum's next value is nobody's mistake.
    return field.required && field.value.kind !== 'enum' ? new GraphQLNonNull(type) : type
  }

  function outputValue(value: ValueKind): GraphQLOutputType {
    switch (value.kind) {
      case 'scalar':
        return scalarType(value.scalar, 'output')
      case 'enum':
        return enumType(value.enum)
      case 'wellKnown':
        return wellKnownType(value.type, 'output')
      case 'message':
        return outputType(value.message)
    }
  }

  function entryType(field: FieldShape, value: GraphQLOutputType): GraphQLObjectType {
    const { parent } = field.desc
    const key = scalarType(field.key as ScalarType, 'output')
    return once(`entry ${field.desc.toString()}`, partName(names, parent, field.name, 'Entry'), (name) => {
      const nullable = field.value.kind === 'wellKnown' || canReadAsNull(field.value)
      return new GraphQLObjectType({
        name,
        fields: {
          key: { type: new GraphQLNonNull(key) },
          value: {
            type: nullable ? value : new GraphQLNonNull(value),
            ...(isFlag(field) ? { resolve: flagResolver('value', false) } : {}),
          },
        },
        extensions: { origin: origin(parent) },
      })
    })
  }

  function origin(desc: DescMessage | DescEnum): string {
    return `grpc source "${sourceName}": ${describeType(desc)}`
  }

  return { output: outputType, outputOf, ...inputs }
}
