import { isPromise, isRecord } from '@vinyasa/base'
import {
  getNamedType,
  GraphQLError,
  GraphQLScalarType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
  type GraphQLFieldConfig,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
} from 'graphql'
import { exactLiteral, withoutBigInts } from '../json/json-scalar.ts'
import { memberReader } from '../own/members.ts'
import { standInFor, standInOf, withOwnArguments } from '../own/stand-ins.ts'
import type { TypeOf } from './type-of.ts'

const asGiven = (value: unknown): unknown => value

/** Returns the scalar for two sources that define one name: it takes all values, which each source parses and serializes. */
export function sharedScalar(first: GraphQLScalarType, second: GraphQLScalarType): GraphQLScalarType {
  if (first.parseValue === asGiven || isSame(first, second)) return first
  return new GraphQLScalarType({
    ...first.toConfig(),
    serialize: withoutBigInts,
    parseValue: asGiven,
    parseLiteral: exactLiteral,
  })
}

function isSame(first: GraphQLScalarType, second: GraphQLScalarType): boolean {
  return first.parseValue === second.parseValue && first.serialize === second.serialize
}

/** Has a field parse its arguments and serialize its values by the scalars of its own source. */
export function withOwnScalars(
  name: string,
  config: GraphQLFieldConfig<unknown, unknown>,
  typeOf: TypeOf,
): GraphQLFieldConfig<unknown, unknown> {
  const { args = {}, type } = config
  const isReplaced = (own: GraphQLScalarType): boolean => {
    const { parseValue } = typeOf(own)
    return parseValue === asGiven && own.parseValue !== asGiven
  }
  const named = getNamedType(type)
  let { resolve, subscribe } = config
  if (isScalarType(named) && isReplaced(named)) resolve = serializing(resolve ?? memberReader(name), type)
  // The configs get other types later.
  const parsed = Object.entries(args)
    .map(([key, arg]) => [key, arg.type] as const)
    .filter(([, own]) => usesReplaced(own, isReplaced, new Set()))
  if (parsed.length > 0) {
    const toOwn = (given: Readonly<Record<string, unknown>>): Record<string, unknown> => {
      const values = { ...given }
      for (const [key, own] of parsed)
        if (Object.hasOwn(given, key)) values[key] = parsedArgument(key, own, given[key])
      return values
    }
    resolve = withOwnArguments(resolve, toOwn)
    subscribe = withOwnArguments(subscribe, toOwn)
  }
  return { ...config, resolve, subscribe }
}

type Resolve = NonNullable<GraphQLFieldConfig<unknown, unknown>['resolve']>

function serializing(resolver: Resolve, returnType: GraphQLOutputType): Resolve {
  return standInFor<Resolve>(
    (source, args, context, info) =>
      serialized(returnType, resolver(source, args, context, { ...info, returnType })),
    { ...standInOf(resolver), type: returnType, written: returnType },
  )
}

/** Each value that its scalar refuses is an error at its place. */
function serialized(type: GraphQLOutputType, value: unknown): unknown {
  if (value === null || value === undefined || value instanceof Error) return value
  if (isPromise(value)) return value.then((later) => serialized(type, later))
  if (isNonNullType(type)) return serialized(type.ofType, value)
  if (isListType(type))
    return Array.isArray(value) ? value.map((item) => serialized(type.ofType, item)) : value
  try {
    return (type as GraphQLScalarType).serialize(value)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

function usesReplaced(
  type: GraphQLInputType,
  isReplaced: (own: GraphQLScalarType) => boolean,
  seen: Set<GraphQLNamedType>,
): boolean {
  const named = getNamedType(type)
  if (seen.has(named)) return false
  seen.add(named)
  if (isScalarType(named)) return isReplaced(named)
  return (
    isInputObjectType(named) &&
    Object.values(named.getFields()).some((one) => usesReplaced(one.type, isReplaced, seen))
  )
}

function parsedArgument(name: string, type: GraphQLInputType, value: unknown): unknown {
  try {
    return parsedBy(type, value)
  } catch (cause) {
    const { message } = cause as Error
    throw new GraphQLError(`Argument "${name}" has an invalid value: ${message}`, {
      originalError: cause as Error,
      extensions: { code: 'BAD_USER_INPUT' },
    })
  }
}

function parsedBy(type: GraphQLInputType, value: unknown): unknown {
  if (value === null || value === undefined) return value
  if (isNonNullType(type)) return parsedBy(type.ofType, value)
  if (isListType(type)) return Array.isArray(value) ? value.map((item) => parsedBy(type.ofType, item)) : value
  if (isScalarType(type)) return type.parseValue(value)
  if (!isInputObjectType(type) || !isRecord(value)) return value
  const fields = type.getFields()
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const field = fields[key]
      return [key, field ? parsedBy(field.type, item) : item]
    }),
  )
}
