import { after } from '@vinyasa/core'
import { behindObjectCounter, isObjectCounter, noteObjectCounter } from '@vinyasa/core/documents'
import {
  defaultTypeResolver,
  getNullableType,
  isAbstractType,
  isLeafType,
  isListType,
  isObjectType,
  type GraphQLAbstractType,
  type GraphQLField,
  type GraphQLIsTypeOfFn,
  type GraphQLObjectType,
  type GraphQLSchema,
  type GraphQLTypeResolver,
} from 'graphql'
import { standInFor, standInOf } from '../own/stand-ins.ts'
import type { AnswerTurns } from './answer-turns.ts'

type IsTypeOf = GraphQLIsTypeOfFn<unknown, unknown>

/**
 * Has the objects of an answer counted by whatever executes it: every interpreter asks a type whether an object is of it,
 * once for each object, before its fields are executed, and waits where the answer is a promise.
 */
export function countObjects(schema: GraphQLSchema, turns: AnswerTurns): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue
    if (isObjectType(type)) {
      count(type, turns)
      for (const field of Object.values(type.getFields())) pace(field, turns)
    } else if (isAbstractType(type)) keepTelling(type)
  }
}

/**
 * Returns the `isTypeOf` function that the author of the type has set. Returns `undefined` if the function only
 * counts objects.
 */
export function ownIsTypeOf({ isTypeOf }: Pick<GraphQLObjectType, 'isTypeOf'>): IsTypeOf | undefined {
  return isTypeOf ? behindObjectCounter(isTypeOf) : undefined
}

function count(type: GraphQLObjectType, turns: AnswerTurns): void {
  const { isTypeOf: own } = type
  if (own && isObjectCounter(own)) return
  const isTypeOf: IsTypeOf = (value, context, info) => {
    // Executors that compile documents, as graphql-jit, give the value alone, and wait for nothing.
    const turn = info ? turns.count(context, info, type) : undefined
    if (!own) return turn ?? true
    return turn ? turn.then(() => own(value, context, info)) : own(value, context, info)
  }
  type.isTypeOf = noteObjectCounter(isTypeOf, own ?? undefined)
}

const paced = new WeakSet<object>()

/** Objects of a list are counted one by one, but values without fields and the lists of a list are not. */
function pace(field: GraphQLField<unknown, unknown>, turns: AnswerTurns): void {
  const { type, resolve } = field
  const list = getNullableType(type)
  const item = isListType(list) && getNullableType(list.ofType)
  if (!item || !resolve || paced.has(resolve) || !(isListType(item) || isLeafType(item))) return
  field.resolve = standInFor<typeof resolve>((source, args, context, info) => {
    const turn = isListType(item) ? turns.beforeList(context, info) : undefined
    const list = turn
      ? turn.then(() => resolve(source, args, context, info))
      : resolve(source, args, context, info)
    return after(list, (value) => turns.pace(context, info, value))
  }, standInOf(resolve))
  paced.add(field.resolve)
}

/** graphql's own way to tell a type takes the first whose `isTypeOf` holds; those that only count say nothing. */
function keepTelling(type: GraphQLAbstractType): void {
  if (type.resolveType) return
  const resolveType: GraphQLTypeResolver<unknown, unknown> = (value, context, info, abstract) => {
    const { schema } = info
    const getPossibleTypes = (): readonly object[] =>
      schema
        .getPossibleTypes(abstract)
        .map((member) => ({ name: member.name, isTypeOf: ownIsTypeOf(member) }))
    return defaultTypeResolver(value, context, { ...info, schema: { getPossibleTypes } } as never, abstract)
  }
  type.resolveType = resolveType
}
