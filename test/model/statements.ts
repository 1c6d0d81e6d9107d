import {
  getNamedType,
  type GraphQLNamedType,
  type GraphQLSchema,
  isAbstractType,
  isInterfaceType,
  isObjectType,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import type { Answer } from './ask.ts'
import type { Operation, StatementPlan, UserHeaders } from './plan.ts'
import { textOf } from './shapes.ts'

/** Coordinates that an operation has to do with, found by walking through it with its types. */
export function coordinatesOf(schema: GraphQLSchema, operation: Operation): ReadonlySet<string> {
  const found = new Set<string>()
  function add(type: GraphQLNamedType, field?: string): void {
    found.add(field === undefined ? type.name : `${type.name}.${field}`)
    if (isObjectType(type) || isInterfaceType(type))
      for (const { name } of type.getInterfaces()) found.add(field === undefined ? name : `${name}.${field}`)
    if (isAbstractType(type)) for (const one of schema.getPossibleTypes(type)) add(one, field)
  }
  const types = new TypeInfo(schema)
  visit(
    parse(textOf(operation)),
    visitWithTypeInfo(types, {
      Field({ name }) {
        const parent = types.getParentType()
        const given = types.getType()
        if (parent) add(parent)
        if (parent) add(parent, name.value)
        if (given) add(getNamedType(given))
      },
    }),
  )
  return found
}

/** Whether a cache answered what it may not: never, or somebody of whom nothing is known what is private. */
export function breaks(
  schema: GraphQLSchema,
  statement: StatementPlan | undefined,
  operation: Operation,
  { cache }: Answer,
  user: UserHeaders,
  hasSession: boolean,
): boolean {
  if (!statement || !cache || !/HIT|STALE|COALESCED/.test(cache)) return false
  if (!coordinatesOf(schema, operation).has(statement.place)) return false
  return statement.word !== 'private' || (Object.keys(user).length === 0 && !hasSession)
}
