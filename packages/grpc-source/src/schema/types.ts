import type { DescEnum, DescMessage, ScalarType } from '@bufbuild/protobuf'
import {
  GraphQLBoolean,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  parseValue,
  valueFromAST,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  type GraphQLInputFieldConfig,
  type GraphQLInputFieldConfigMap,
  type GraphQLInputType,
  type GraphQLOutputType,
} from 'graphql'
import type { Annotations } from '../annotations.ts'
import type { Comments } from '../descriptors/comments.ts'
import type { Finding } from '../errors.ts'
import { entityDirectives, fieldDirectives } from '../federation.ts'
import { markResolver } from '../plans/planned-field.ts'
import type { TypeNames } from './names.ts'
import { canBeUnshowable, createLeafTypes, createOnce, describeType } from './leaf-types.ts'
import {
  partName,
  type FieldShape,
  type MessageShape,
  type OneofShape,
  type Shapes,
  type ValueKind,
} from './shapes.ts'
import { createUnions } from './unions.ts'
import { isWellKnown } from './well-known.ts'

/** Builds GraphQL types from shapes, on demand and once each. */
export interface TypeBuilder {
  output(message: DescMessage): GraphQLOutputType
  /** The type of a field's value, with list and nullability. */
  outputOf(field: FieldShape): GraphQLOutputType
  input(message: DescMessage): GraphQLInputType
  /** The arguments or input fields of a message. `only` limits them to these proto or GraphQL names. */
  inputFields(message: DescMessage, only?: readonly string[]): GraphQLInputFieldConfigMap
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
  const { customScalar, scalarType, wellKnownType, enumType } = createLeafTypes({
    shapes,
    names,
    comments,
    once,
    origin,
  })
  const unions = createUnions({ shapes, names, outputValue, origin })

  function outputType(desc: DescMessage): GraphQLOutputType {
    if (isWellKnown(desc.typeName)) return wellKnownType(desc.typeName, 'output')
    const shape = shapes.message(desc)
    if (!shape.fields.some(({ inOutput }) => inOutput)) return GraphQLBoolean
    return once(desc.typeName, names.of(desc), describeType(desc), (name) => {
      return new GraphQLObjectType({
        name,
        description: comments.of(desc),
        fields: () => outputFields(shape),
        extensions: { origin: origin(desc), ...entityDirectives(annotations.entity(desc)) },
      })
    })
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
      if (mapping.oneofs === 'union' && field.oneof) {
        const { oneof } = field
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

  function isFlag({ value }: FieldShape): boolean {
    return value.kind === 'message' && outputType(value.message) === GraphQLBoolean
  }

  function outputOf(field: FieldShape): GraphQLOutputType {
    const type = outputValue(field.value)
    if (field.cardinality === 'map') {
      if (mapping.maps === 'json') return new GraphQLNonNull(customScalar('JSON'))
      return new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(entryType(field, type))))
    }
    // A backend newer than the protos may send enum numbers that have no name: those read as null.
    const isEnum = field.value.kind === 'enum'
    if (field.cardinality === 'list') {
      const item = isEnum || canBeUnshowable(field.value) ? type : new GraphQLNonNull(type)
      return new GraphQLNonNull(new GraphQLList(item))
    }
    return field.required && !isEnum ? new GraphQLNonNull(type) : type
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
    return once(
      `entry ${field.desc.toString()}`,
      partName(names, parent, field.name, 'Entry'),
      describeType(parent),
      (name) => {
        const nullable = field.value.kind === 'enum' || field.value.kind === 'wellKnown'
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
      },
    )
  }

  function inputType(desc: DescMessage): GraphQLInputType {
    const shape = shapes.message(desc)
    if (!shape.fields.some(({ inInput }) => inInput)) return GraphQLBoolean
    const base = names.of(desc)
    return once(
      `input ${desc.typeName}`,
      base.endsWith('Input') ? base : `${base}Input`,
      `the input form of ${describeType(desc)}`,
      (name) => {
        return new GraphQLInputObjectType({
          name,
          description: comments.of(desc),
          fields: () => inputFields(desc),
          extensions: { origin: origin(desc) },
        })
      },
    )
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
      describeType(parent),
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
      describeType(desc),
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

  function origin(desc: DescMessage | DescEnum): string {
    return `grpc source "${sourceName}": ${describeType(desc)}`
  }

  return { output: outputType, outputOf, input: inputType, inputFields }
}

/** A message without fields is a Boolean: whether it is set. */
function flagResolver(name: string, isList: boolean): (source: unknown) => unknown {
  const isSet = (value: unknown): boolean => value !== null && value !== undefined
  const resolve = (source: unknown): unknown => {
    const value = (source as Readonly<Record<string, unknown>>)[name]
    return isList && Array.isArray(value) ? value.map(isSet) : isSet(value) || null
  }
  return markResolver(resolve, { kind: 'flag' })
}
