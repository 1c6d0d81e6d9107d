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
import { InputTypes } from './input-types.ts'
import type { TypeNames } from '../contract/names.ts'
import { canReadAsNull, createLeafTypes, createOnce, type LeafTypes, type Once } from './leaf-types.ts'
import { type FieldShape, type MessageShape, type Shapes, type ValueKind } from '../contract/shapes.ts'
import { entryOf } from '../contract/used-types.ts'
import { createUnions } from './unions.ts'

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

/** Builds GraphQL types from shapes, on demand and once each. */
export class TypeBuilder {
  readonly inputs: InputTypes
  readonly #options: TypeBuilderOptions
  readonly #once: Once
  readonly #leaves: LeafTypes
  readonly #unions: ReturnType<typeof createUnions>

  constructor(options: TypeBuilderOptions) {
    const { shapes, names, comments, findings, sourceName } = options
    const origin = (desc: DescMessage | DescEnum): string => originOf(sourceName, desc)
    const once = createOnce()
    const leaves = createLeafTypes({ shapes, names, comments, once, origin })
    this.#options = options
    this.#once = once
    this.#leaves = leaves
    this.#unions = createUnions({ shapes, names, origin, outputValue: (value) => this.#value(value) })
    this.inputs = new InputTypes({ shapes, names, comments, findings, once, leaves, origin })
  }

  output(desc: DescMessage): GraphQLOutputType {
    const { shapes, names, comments, annotations, sourceName } = this.#options
    const type = shapes.wellKnown(desc)
    if (type !== undefined) return this.#leaves.of({ kind: 'wellKnown', type, group: 0 }, 'output')
    const shape = shapes.message(desc)
    if (!shape.fields.some(({ inOutput }) => inOutput)) return GraphQLBoolean
    return this.#once(names.of(desc), (name) => {
      return new GraphQLObjectType({
        name,
        description: comments.of(desc),
        fields: () => this.#fields(shape),
        extensions: {
          origin: originOf(sourceName, desc),
          ...entityDirectives(annotations.entity(desc)),
          ...this.#hiddenFields(name, shape),
        },
      })
    })
  }

  /** The type of a field's value, with list and nullability. */
  outputOf(field: FieldShape): GraphQLOutputType {
    const type = this.#value(field.value)
    if (field.cardinality === 'map') {
      if (this.#options.shapes.options.maps === 'json')
        return new GraphQLNonNull(this.#leaves.customScalar('JSON'))
      return new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(this.#entry(field, type))))
    }
    if (field.cardinality === 'list') {
      const item = canReadAsNull(field.value) ? type : new GraphQLNonNull(type)
      return new GraphQLNonNull(new GraphQLList(item))
    }
    // Elsewhere the author's word stands; an enum's next value is nobody's mistake.
    return field.required && field.value.kind !== 'enum' ? new GraphQLNonNull(type) : type
  }

  /** Joins may still be keyed by fields of a message that clients do not see. */
  #hiddenFields(name: string, { fields }: MessageShape): { readonly hidden?: GraphQLObjectType[] } {
    const unseen = fields.filter((field) => !field.inOutput || this.#isArm(field))
    if (unseen.length === 0) return {}
    const hidden = new GraphQLObjectType({
      name: `${name}Hidden`,
      fields: () => Object.fromEntries(unseen.map((field) => [field.name, { type: this.outputOf(field) }])),
    })
    return { hidden: [hidden] }
  }

  #fields(shape: MessageShape): GraphQLFieldConfigMap<unknown, unknown> {
    const { comments, sourceName, resolverField } = this.#options
    const fields: GraphQLFieldConfigMap<unknown, unknown> = {}
    for (const field of shape.fields) {
      if (!field.inOutput) continue
      if (field.annotation.resolver) {
        const resolved = resolverField(shape.desc, field)
        if (resolved) fields[field.name] = resolved
        continue
      }
      const { oneof } = field
      if (oneof && this.#isArm(field)) {
        fields[oneof.name] ??= this.#unions.field(shape, oneof)
        continue
      }
      fields[field.name] = {
        type: this.outputOf(field),
        description: field.annotation.description || comments.of(field.desc),
        deprecationReason: field.desc.deprecated ? 'deprecated in the proto' : undefined,
        extensions: {
          origin: `${originOf(sourceName, shape.desc)} field ${field.desc.name}`,
          ...fieldDirectives(field.annotation),
        },
        ...(field.cardinality !== 'map' && this.#isFlag(field)
          ? { resolve: flagResolver(field.name, field.cardinality === 'list') }
          : {}),
      }
    }
    return fields
  }

  /** Clients see the oneof, as a union. */
  #isArm({ oneof }: FieldShape): boolean {
    return this.#options.shapes.options.oneofs === 'union' && oneof !== undefined
  }

  #isFlag({ value }: FieldShape): boolean {
    return value.kind === 'message' && this.output(value.message) === GraphQLBoolean
  }

  #value(value: ValueKind): GraphQLOutputType {
    return value.kind === 'message' ? this.output(value.message) : this.#leaves.of(value, 'output')
  }

  #entry(field: FieldShape, value: GraphQLOutputType): GraphQLObjectType {
    const { names, sourceName } = this.#options
    const key = this.#leaves.scalarType(field.key as ScalarType, 'output')
    return this.#once(names.part(entryOf(field, 'output')), (name) => {
      const nullable = field.value.kind === 'wellKnown' || canReadAsNull(field.value)
      return new GraphQLObjectType({
        name,
        fields: {
          key: { type: new GraphQLNonNull(key) },
          value: {
            type: nullable ? value : new GraphQLNonNull(value),
            ...(this.#isFlag(field) ? { resolve: flagResolver('value', false) } : {}),
          },
        },
        extensions: { origin: originOf(sourceName, field.desc.parent) },
      })
    })
  }
}

function originOf(sourceName: string, desc: DescMessage | DescEnum): string {
  return `grpc source "${sourceName}": ${desc.typeName} (${desc.file.proto.name})`
}
