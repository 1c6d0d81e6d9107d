import type { DescEnum, DescMessage, ScalarType } from '@bufbuild/protobuf'
import {
  GraphQLBoolean,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  type GraphQLOutputType,
  GraphQLUnionType,
  GraphQLInputObjectType,
  parseValue,
  valueFromAST,
  type GraphQLInputFieldConfig,
  type GraphQLInputFieldConfigMap,
  type GraphQLInputType,
} from 'graphql'
import type { Annotations } from '../contract/annotations.ts'
import type { Contract } from '../contract/contract.ts'
import type { Comments } from '../descriptors/comments.ts'
import { entityDirectives, fieldDirectives } from './federation.ts'
import { flagResolver } from './flags.ts'
import { canReadAsNull, createLeafTypes, createOnce, type LeafTypes } from './leaf-types.ts'
import type { FieldShape, MessageShape, OneofShape, ValueKind } from '../contract/shapes.ts'
import { entryOf, armOf, isWrapped, unionOf, choiceOf } from '../contract/used-types.ts'

export interface TypeBuilderOptions extends Pick<Contract, 'shapes' | 'names' | 'findings'> {
  readonly comments: Comments
  readonly annotations: Annotations
  readonly sourceName: string
  /** The field that an RPC resolves, for `(graphql.field).resolver`. */
  readonly resolverField: (
    message: DescMessage,
    field: FieldShape,
  ) => GraphQLFieldConfig<unknown, unknown> | undefined
}

/** Builds GraphQL types from shapes, on demand and once each. */
export class TypeBuilder {
  readonly #options: TypeBuilderOptions
  readonly #once = createOnce()
  readonly #leaves: LeafTypes

  constructor(options: TypeBuilderOptions) {
    const { shapes, names, comments } = options
    this.#options = options
    this.#leaves = createLeafTypes({
      shapes,
      names,
      comments,
      once: this.#once,
      origin: (desc) => this.#origin(desc),
    })
  }

  /** The output form of a message. */
  output(desc: DescMessage): GraphQLOutputType {
    const { shapes, names, comments, annotations } = this.#options
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
          origin: this.#origin(desc),
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
    const { resolverField } = this.#options
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
        fields[oneof.name] ??= this.#union(oneof)
        continue
      }
      fields[field.name] = {
        type: this.outputOf(field),
        description: this.#describe(field),
        deprecationReason: field.desc.deprecated ? 'deprecated in the proto' : undefined,
        extensions: {
          origin: `${this.#origin(shape.desc)} field ${field.desc.name}`,
          ...fieldDirectives(field.annotation),
        },
        ...(field.cardinality !== 'map' && this.#isFlag(field)
          ? { resolve: flagResolver(field.name, field.cardinality === 'list') }
          : {}),
      }
    }
    return fields
  }

  /** An output oneof as a union: message arms are members themselves, other arms get a member with one field `value`. */
  #union(oneof: OneofShape): GraphQLFieldConfig<unknown, unknown> {
    const { names } = this.#options
    const origin = this.#origin(oneof.desc.parent)
    const arms = oneof.fields
      .filter(({ inOutput }) => inOutput)
      .map((arm) => ({ arm, type: this.#memberOf(oneof, arm) }))
    return {
      type: new GraphQLUnionType({
        name: names.part(unionOf(oneof)),
        types: arms.map(({ type }) => type),
        extensions: { origin },
      }),
      extensions: { origin: `${origin} oneof ${oneof.desc.name}` },
      resolve: (source) => {
        const values = source as Readonly<Record<string, unknown>>
        for (const { arm, type } of arms) {
          const value = values[arm.name]
          if (value === null || value === undefined) continue
          const isMember = arm.value.kind === 'message' && this.#value(arm.value) === type
          return isMember ? { ...(value as object), __typename: type.name } : { value, __typename: type.name }
        }
        return null
      },
    }
  }

  #memberOf(oneof: OneofShape, arm: FieldShape): GraphQLObjectType {
    const { shapes, names } = this.#options
    const type = this.#value(arm.value)
    if (type instanceof GraphQLObjectType && !isWrapped(arm, oneof, shapes)) return type
    return new GraphQLObjectType({
      name: names.part(armOf(arm)),
      fields: { value: { type: canReadAsNull(arm.value) ? type : new GraphQLNonNull(type) } },
      extensions: { origin: this.#origin(arm.desc.parent) },
    })
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
    const { names } = this.#options
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
        extensions: { origin: this.#origin(field.desc.parent) },
      })
    })
  }

  /** The input form of a message. */
  input(desc: DescMessage): GraphQLInputType {
    const { shapes, names, comments } = this.#options
    if (!shapes.message(desc).fields.some(({ inInput }) => inInput)) return GraphQLBoolean
    return this.#once(names.input(desc), (name) => {
      return new GraphQLInputObjectType({
        name,
        description: comments.of(desc),
        fields: () => this.inputFields(desc),
        extensions: { origin: this.#origin(desc) },
      })
    })
  }

  /** The arguments or input fields of a message. `only` limits them to these proto or GraphQL names. */
  inputFields(desc: DescMessage, only?: readonly string[]): GraphQLInputFieldConfigMap {
    const shape = this.#options.shapes.message(desc)
    const fields: GraphQLInputFieldConfigMap = {}
    for (const field of shape.fields) {
      if (!field.inInput || (only && !only.includes(field.desc.name) && !only.includes(field.name))) continue
      const { oneof } = field
      if (!oneof) fields[field.name] = this.#inputField(field)
      else fields[oneof.name] ??= this.#inputOneof(oneof)
    }
    return fields
  }

  #inputField(field: FieldShape): GraphQLInputFieldConfig {
    const nullable = field.cardinality === 'single' ? this.#inputValue(field.value) : this.#inputList(field)
    const text = field.annotation.default
    const defaultValue = text === undefined || text === '' ? undefined : this.#default(field, nullable, text)
    const required = field.required && defaultValue === undefined && !this.#requiresItself(field)
    return {
      type: required ? new GraphQLNonNull(nullable) : nullable,
      description: this.#describe(field),
      defaultValue,
      // GraphQL does not let required arguments be deprecated.
      deprecationReason: field.desc.deprecated && !required ? 'deprecated in the proto' : undefined,
    }
  }

  /** Whether its message cannot be given without another of the message that holds it: GraphQL wants an end. */
  #requiresItself({ value, desc, cardinality }: FieldShape): boolean {
    const seen = new Set<DescMessage>()
    const requires = (message: DescMessage): boolean => {
      if (message === desc.parent) return true
      if (seen.has(message)) return false
      seen.add(message)
      return this.#options.shapes
        .message(message)
        .fields.some(
          (field) =>
            field.required &&
            field.inInput &&
            field.cardinality === 'single' &&
            field.value.kind === 'message' &&
            requires(field.value.message),
        )
    }
    return cardinality === 'single' && value.kind === 'message' && requires(value.message)
  }

  #describe({ annotation, desc }: FieldShape): string | undefined {
    return annotation.description || this.#options.comments.of(desc)
  }

  #inputList(field: FieldShape): GraphQLInputType {
    const { shapes, names } = this.#options
    if (field.cardinality === 'list')
      return new GraphQLList(new GraphQLNonNull(this.#inputValue(field.value)))
    if (shapes.options.maps === 'json') return this.#leaves.customScalar('JSON')
    const entry = this.#once(names.part(entryOf(field, 'input')), (name) => {
      const fields = () => ({
        key: { type: new GraphQLNonNull(this.#leaves.scalarType(field.key as ScalarType, 'input')) },
        value: { type: new GraphQLNonNull(this.#inputValue(field.value)) },
      })
      return new GraphQLInputObjectType({
        name,
        fields,
        extensions: { origin: this.#origin(field.desc.parent) },
      })
    })
    return new GraphQLList(new GraphQLNonNull(entry))
  }

  #inputValue(value: ValueKind): GraphQLInputType {
    return value.kind === 'message' ? this.input(value.message) : this.#leaves.of(value, 'input')
  }

  #inputOneof(oneof: OneofShape): GraphQLInputFieldConfig {
    const type = this.#once(this.#options.names.part(choiceOf(oneof)), (name) => {
      const extensions = { origin: this.#origin(oneof.desc.parent) }
      const arms = oneof.fields.filter(({ inInput }) => inInput)
      const toField = (arm: FieldShape) => ({
        type: this.#inputValue(arm.value),
        description: this.#describe(arm),
      })
      const fields = () => Object.fromEntries(arms.map((arm) => [arm.name, toField(arm)]))
      return new GraphQLInputObjectType({ name, isOneOf: true, fields, extensions })
    })
    return { type: oneof.required ? new GraphQLNonNull(type) : type }
  }

  #default(field: FieldShape, type: GraphQLInputType, text: string): unknown {
    for (const candidate of [text, JSON.stringify(text)]) {
      try {
        const value = valueFromAST(parseValue(candidate), type)
        if (value !== undefined) return value
      } catch {
        // A text that is no GraphQL literal is tried as a string next.
      }
    }
    this.#options.findings.push({
      file: field.desc.parent.file.proto.name,
      element: `${field.desc.parent.typeName}.${field.desc.name}`,
      message: `the default "${text}" is not a value of the type ${String(type)}; write a GraphQL literal of this type`,
    })
    return undefined
  }

  #origin(desc: DescMessage | DescEnum): string {
    return `grpc source "${this.#options.sourceName}": ${desc.typeName} (${desc.file.proto.name})`
  }
}
