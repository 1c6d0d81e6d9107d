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
  partName,
  type FieldShape,
  type MessageShape,
  type OneofShape,
  type Shapes,
  type ValueKind,
} from '../contract/shapes.ts'

/** The input form of messages, and the arguments that are made of their fields. */
export interface InputTypes {
  input(message: DescMessage): GraphQLInputType
  /** The arguments or input fields of a message. `only` limits them to these proto or GraphQL names. */
  inputFields(message: DescMessage, only?: readonly string[]): GraphQLInputFieldConfigMap
}

export function createInputTypes(options: {
  readonly shapes: Shapes
  readonly names: TypeNames
  readonly comments: Comments
  readonly findings: Finding[]
  readonly once: Once
  readonly leaves: LeafTypes
  readonly origin: (desc: DescMessage | DescEnum) => string
}): InputTypes {
  const { shapes, names, comments, findings, once, leaves, origin } = options
  const { customScalar, scalarType, wellKnownType, enumType } = leaves
  const { options: mapping } = shapes

  function inputType(desc: DescMessage): GraphQLInputType {
    const shape = shapes.message(desc)
    if (!shape.fields.some(({ inInput }) => inInput)) return GraphQLBoolean
    return once(`input ${desc.typeName}`, names.input(desc), (name) => {
      return new GraphQLInputObjectType({
        name,
        description: comments.of(desc),
        fields: () => inputFields(desc),
        extensions: { origin: origin(desc) },
      })
    })
  }

  function inputFields(desc: DescMessage, only?: readonly string[]): GraphQLInputFieldConfigMap {
    const shape = shapes.message(desc)
    const fields: GraphQLInputFieldConfigMap = {}
    for (const field of shape.fields) {
      if (!field.inInput || (only && !only.includes(field.desc.name) && !only.includes(field.name))) continue
      const { oneof } = field
      if (!oneof) fields[field.name] = inputField(field)
      else fields[oneof.name] ??= oneofField(shape, oneof)
    }
    return fields
  }

  function inputField(field: FieldShape): GraphQLInputFieldConfig {
    const nullable = field.cardinality === 'single' ? inputValue(field.value) : inputList(field)
    const text = field.annotation.default
    const defaultValue = text === undefined || text === '' ? undefined : parseDefault(field, nullable, text)
    const required = field.required && defaultValue === undefined
    return {
      type: required ? new GraphQLNonNull(nullable) : nullable,
      description: field.annotation.description || comments.of(field.desc),
      defaultValue,
      // GraphQL does not let required arguments be deprecated.
      deprecationReason: field.desc.deprecated && !required ? 'deprecated in the proto' : undefined,
    }
  }

  function inputList(field: FieldShape): GraphQLInputType {
    if (field.cardinality === 'list') return new GraphQLList(new GraphQLNonNull(inputValue(field.value)))
    if (mapping.maps === 'json') return customScalar('JSON')
    const { parent } = field.desc
    const entry = once(
      `input entry ${field.desc.toString()}`,
      partName(names, parent, field.name, 'EntryInput'),
      (name) => {
        return new GraphQLInputObjectType({
          name,
          fields: () => ({
            key: { type: new GraphQLNonNull(scalarType(field.key as ScalarType, 'input')) },
            value: { type: new GraphQLNonNull(inputValue(field.value)) },
          }),
          extensions: { origin: origin(parent) },
        })
      },
    )
    return new GraphQLList(new GraphQLNonNull(entry))
  }

  function inputValue(value: ValueKind): GraphQLInputType {
    switch (value.kind) {
      case 'scalar':
        return scalarType(value.scalar, 'input')
      case 'enum':
        return enumType(value.enum)
      case 'wellKnown':
        return wellKnownType(value.type, 'input')
      case 'message':
        return inputType(value.message)
    }
  }

  function oneofField(shape: MessageShape, oneof: OneofShape): GraphQLInputFieldConfig {
    const { desc } = shape
    const type = once(
      `oneof ${desc.typeName}.${oneof.desc.name}`,
      partName(names, desc, oneof.name, 'Input'),
      (name) => {
        return new GraphQLInputObjectType({
          name,
          isOneOf: true,
          fields: () =>
            Object.fromEntries(
              oneof.fields
                .filter(({ inInput }) => inInput)
                .map((field) => [
                  field.name,
                  {
                    type: inputValue(field.value),
                    description: field.annotation.description || comments.of(field.desc),
                  },
                ]),
            ),
          extensions: { origin: origin(desc) },
        })
      },
    )
    return { type: oneof.required ? new GraphQLNonNull(type) : type }
  }

  function parseDefault(field: FieldShape, type: GraphQLInputType, text: string): unknown {
    for (const candidate of [text, JSON.stringify(text)]) {
      try {
        const value = valueFromAST(parseValue(candidate), type)
        if (value !== undefined) return value
      } catch {
        // Not a GraphQL literal: tried as a string next.
      }
    }
    findings.push({
      file: field.desc.parent.file.proto.name,
      element: `${field.desc.parent.typeName}.${field.desc.name}`,
      message: `the default "${text}" is no value of type ${String(type)}; write it as in GraphQL`,
    })
    return undefined
  }

  return { input: inputType, inputFields }
}
