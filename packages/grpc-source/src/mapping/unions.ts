import type { DescMessage } from '@bufbuild/protobuf'
import {
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLUnionType,
  type GraphQLFieldConfig,
  type GraphQLOutputType,
} from 'graphql'
import type { TypeNames } from '../contract/names.ts'
import { canReadAsNull } from './leaf-types.ts'
import {
  type FieldShape,
  type MessageShape,
  type OneofShape,
  type Shapes,
  type ValueKind,
} from '../contract/shapes.ts'
import { armOf, isWrapped, unionOf } from '../contract/used-types.ts'

/** Output oneofs as unions: message arms are members themselves, other arms get a member with one field `value`. */
export function createUnions(options: {
  readonly shapes: Shapes
  readonly names: TypeNames
  readonly outputValue: (value: ValueKind) => GraphQLOutputType
  readonly origin: (desc: DescMessage) => string
}): { field(shape: MessageShape, oneof: OneofShape): GraphQLFieldConfig<unknown, unknown> } {
  const { shapes, names, outputValue, origin } = options
  const unions = new Map<OneofShape, GraphQLUnionType>()

  function memberOf(shape: MessageShape, oneof: OneofShape, arm: FieldShape): GraphQLObjectType {
    const type = outputValue(arm.value)
    if (type instanceof GraphQLObjectType && !isWrapped(arm, oneof, shapes)) return type
    return new GraphQLObjectType({
      name: names.part(armOf(arm)),
      fields: { value: { type: canReadAsNull(arm.value) ? type : new GraphQLNonNull(type) } },
      extensions: { origin: origin(shape.desc) },
    })
  }

  return {
    field(shape, oneof) {
      const arms = oneof.fields
        .filter(({ inOutput }) => inOutput)
        .map((arm) => ({ arm, type: memberOf(shape, oneof, arm) }))
      let union = unions.get(oneof)
      if (!union) {
        const name = names.part(unionOf(oneof))
        union = new GraphQLUnionType({
          name,
          types: arms.map(({ type }) => type),
          extensions: { origin: origin(shape.desc) },
        })
        unions.set(oneof, union)
      }
      return {
        type: union,
        extensions: { origin: `${origin(shape.desc)} oneof ${oneof.desc.name}` },
        resolve(source) {
          const values = source as Readonly<Record<string, unknown>>
          for (const { arm, type } of arms) {
            const value = values[arm.name]
            if (value === null || value === undefined) continue
            const isMember = arm.value.kind === 'message' && outputValue(arm.value) === type
            return isMember
              ? { ...(value as object), __typename: type.name }
              : { value, __typename: type.name }
          }
          return null
        },
      }
    },
  }
}
