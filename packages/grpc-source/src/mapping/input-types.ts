import type { DescEnum, DescMessage, ScalarType } from '@bufbuild/protobuf'
import {
  GraphQLBoolean,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  parseValue,
  valueFromAST,
  type GraphQLInputFieldConfig,
  type GraphQLInputFieldConfigMap,
  type GraphQLInputType,
} from 'graphql'
import type { Comments } from '../descriptors/comments.ts'
import type { Finding } from '../errors.ts'
import type { LeafTypes, Once } from './leaf-types.ts'
import type { TypeNames } from '../contract/names.ts'
import {
  type FieldShape,
  type MessageShape,
  type OneofShape,
  type Shapes,
  type ValueKind,
} from '../contract/shapes.ts'
import { choiceOf, entryOf } from '../contract/used-types.ts'

export interface InputTypesOptions {
  readonly shapes: Shapes
  readonly names: TypeNames
  readonly comments: Comments
  readonly findings: Finding[]
  readonly once: Once
  readonly leaves: LeafTypes
  readonly origin: (desc: DescMessage | DescEnum) => string
}

/** The input form of messages, and the arguments that are made of their fields. */
export class InputTypes {
  readonly #options: InputTypesOptions

  constructor(options: InputTypesOptions) {
    this.#options = options
  }

  of(desc: DescMessage): GraphQLInputType {
    const { shapes, names, comments, once, origin } = this.#options
    if (!shapes.message(desc).fields.some(({ inInput }) => inInput)) return GraphQLBoolean
    return once(names.input(desc), (name) => {
      return new GraphQLInputObjectType({
        name,
        description: comments.of(desc),
        fields: () => this.fieldsOf(desc),
        extensions: { origin: origin(desc) },
      })
    })
  }

  /** The arguments or input fields of a message. `only` limits them to these proto or GraphQL names. */
  fieldsOf(desc: DescMessage, only?: readonly string[]): GraphQLInputFieldConfigMap {
    const shape = this.#options.shapes.message(desc)
    const fields: GraphQLInputFieldConfigMap = {}
    for (const field of shape.fields) {
      if (!field.inInput || (only && !only.includes(field.desc.name) && !only.includes(field.name))) continue
      const { oneof } = field
      if (!oneof) fields[field.name] = this.#field(field)
      else fields[oneof.name] ??= this.#oneof(shape, oneof)
    }
    return fields
  }

  #field(field: FieldShape): GraphQLInputFieldConfig {
    const nullable = field.cardinality === 'single' ? this.#value(field.value) : this.#list(field)
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

  #list(field: FieldShape): GraphQLInputType {
    const { shapes, names, once, leaves, origin } = this.#options
    if (field.cardinality === 'list') return new GraphQLList(new GraphQLNonNull(this.#value(field.value)))
    if (shapes.options.maps === 'json') return leaves.customScalar('JSON')
    const entry = once(names.part(entryOf(field, 'input')), (name) => {
      const fields = () => ({
        key: { type: new GraphQLNonNull(leaves.scalarType(field.key as ScalarType, 'input')) },
        value: { type: new GraphQLNonNull(this.#value(field.value)) },
      })
      return new GraphQLInputObjectType({ name, fields, extensions: { origin: origin(field.desc.parent) } })
    })
    return new GraphQLList(new GraphQLNonNull(entry))
  }

  #value(value: ValueKind): GraphQLInputType {
    return value.kind === 'message' ? this.of(value.message) : this.#options.leaves.of(value, 'input')
  }

  #oneof({ desc }: MessageShape, oneof: OneofShape): GraphQLInputFieldConfig {
    const { names, once, origin } = this.#options
    const type = once(names.part(choiceOf(oneof)), (name) => {
      const extensions = { origin: origin(desc) }
      const arms = oneof.fields.filter(({ inInput }) => inInput)
      const toField = (arm: FieldShape) => ({
        type: this.#value(arm.value),
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
}
