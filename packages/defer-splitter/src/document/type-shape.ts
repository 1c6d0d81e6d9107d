import {
  type GraphQLAbstractType,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql'

/** The facts about a type that are needed to complete its values, worked out once. */
export type TypeShape = { readonly isNonNull: boolean } & (
  | { readonly kind: 'leaf'; readonly type: GraphQLLeafType }
  | { readonly kind: 'list'; readonly item: TypeShape }
  | { readonly kind: 'object'; readonly type: GraphQLObjectType }
  | { readonly kind: 'abstract'; readonly type: GraphQLAbstractType }
)

export function toTypeShape(type: GraphQLOutputType): TypeShape {
  const isNonNull = isNonNullType(type)
  const nullable = isNonNull ? type.ofType : type
  if (isLeafType(nullable)) return { isNonNull, kind: 'leaf', type: nullable }
  if (isListType(nullable)) return { isNonNull, kind: 'list', item: toTypeShape(nullable.ofType) }
  if (isObjectType(nullable)) return { isNonNull, kind: 'object', type: nullable }
  return { isNonNull, kind: 'abstract', type: nullable }
}
