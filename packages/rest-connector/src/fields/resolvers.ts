import { endingOf, type Turns } from '@vinyasa/core'
import { offerField, recordedRoot } from '@vinyasa/source-kit'
import {
  getNamedType,
  getNullableType,
  isLeafType,
  isEnumType,
  isListType,
  type GraphQLEnumType,
  type GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLLeafType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
} from 'graphql'
import type { Call, FieldScope } from '../call/call.ts'
import type { CompiledEndpoint } from '../declare/endpoint.ts'
import { fits, kindOf } from '../declare/answer-shape.ts'
import { checkedAnswer } from '../call/checked-answer.ts'
import { atPlace, restError } from '../errors.ts'
import { SCALARS, type TypeReference } from '../declare/fields.ts'
import { entriesOf, isEntry } from '../json/entries.ts'
import { compileMember, type MemberPath, refuseLevel } from '../declare/member-path.ts'
import { markMember } from '../declare/members.ts'
import type { TypeDefinition } from '../declare/type-definitions.ts'
import { marks } from '../json/planned-field.ts'
import { restFastPath } from './rest-fast-path.ts'
import { endingsOf } from '../http/ending.ts'
import type { Args } from '../templates/template.ts'

/** Resolves a root field by calling its endpoint, unless a plan has called it already. */
export function rootResolver(
  endpoint: CompiledEndpoint,
  call: Call,
  isPlannable: boolean,
  turns: Turns,
): GraphQLFieldResolver<unknown, unknown> {
  const { envelope } = endpoint
  const enveloped: Call = envelope ? (args, scope) => call(args, { ...scope, isEnveloped: true }) : call
  const checked = (result: unknown): unknown => (envelope ? result : checkedAnswer(endpoint, result))
  const resolve: GraphQLFieldResolver<unknown, unknown> = async (_source, args: Args, context, info) => {
    const recorded = recordedRoot(info)
    const result = recorded ? await recorded() : checked(await enveloped(args, rootScope(context, info)))
    return withObjects(result, info.returnType, endpoint.name)
  }
  if (isPlannable) offerField(marks.mark(resolve, { kind: 'endpoint', call: enveloped, turns }), restFastPath)
  return resolve
}

/** Returns what an operation hands to the calls made for it. */
export function scopeOf(context: unknown, info: GraphQLResolveInfo): FieldScope {
  return {
    endings: endingsOf(context, endingOf(info), isEvent(info)),
    context,
    // Made anew for every execution, also where a context is used for several.
    operation: info.variableValues,
    schema: info.schema,
  }
}

/** {@link scopeOf} of a root field, which a mutation looks up in the schema to tell what it changes. */
function rootScope(context: unknown, info: GraphQLResolveInfo): FieldScope {
  const scope = scopeOf(context, info)
  const { schema, parentType, fieldName } = info
  if (parentType !== schema.getMutationType()) return scope
  return { ...scope, place: () => ({ schema, field: parentType.getFields()[fieldName] }) }
}

/** Each event of a subscription has an answer of its own. */
export function isEvent({ operation }: GraphQLResolveInfo): boolean {
  return operation.operation === 'subscription'
}

/**
 * Reads one member of a response. Scalars are checked first, because GraphQL's own message about a value of the wrong
 * kind quotes it, and the value may be an object with members that no client may select. Names that every object
 * inherits and members under another key need a resolver too; all else is left to the executor's default. `kind`: of the
 * named type, where the connector defines it.
 */
export function fieldResolver(
  typeName: string,
  name: string,
  key: string,
  type: TypeReference,
  kind: TypeDefinition['kind'] | undefined,
): GraphQLFieldResolver<unknown, unknown> | undefined {
  const place = `${typeName}.${name}`
  const isScalar = (type.name !== 'JSON' && SCALARS.has(type.name)) || kind === 'scalar'
  const compile = (): MemberPath => {
    // Its entries are a list of them.
    if (isScalar || kind === 'enum' || (type.isList && kind !== 'entry')) refuseLevel(key, type.text)
    return compileMember(key)
  }
  const member = atPlace(['key'], compile, `field "${place}"`)
  const read = (source: unknown) =>
    typeof source === 'object' && source !== null ? member.read(source) : null
  const depth = type.text.split('[').length - 1
  if (isScalar)
    return markMember(
      (source: unknown, _args: unknown, _context: unknown, info: GraphQLResolveInfo) =>
        checkedScalar(read(source), type, place, depth, getNamedType(info.returnType) as GraphQLLeafType),
      member,
      true,
    )
  if (type.name === 'JSON' && !type.isList && key === name && !(key in Object.prototype)) return undefined
  return markMember(
    (source: unknown, _args: unknown, _context: unknown, info: GraphQLResolveInfo) =>
      withObjects(read(source), info.returnType, place),
    member,
    false,
  )
}

/** Reads all members of a response but some, as one value. */
export function othersResolver(
  typeName: string,
  name: string,
  besides: readonly string[],
): GraphQLFieldResolver<unknown, unknown> {
  const known = new Set(besides)
  return (source, _args, _context, info) => {
    if (typeof source !== 'object' || source === null) return null
    const others = Object.entries(source).filter(([key]) => !known.has(key))
    return withObjects(Object.fromEntries(others), info.returnType, `${typeName}.${name}`)
  }
}

/** The value with an error wherever an object or a list is declared and something else came. */
function withObjects(value: unknown, type: GraphQLOutputType, place: string): unknown {
  const nullable = getNullableType(type)
  if (value === null || value === undefined) return value
  if (isLeafType(nullable)) return isEnumType(nullable) ? listedValue(value, nullable, place) : value
  if (isListType(nullable)) {
    const itemType = nullable.ofType as GraphQLOutputType
    const given = isEntry(itemType) ? entriesOf(value) : value
    if (!Array.isArray(given)) return notAsDeclared(place, 'a list', value)
    const list: readonly unknown[] = given
    const items = list.map((item) => withObjects(item, itemType, place))
    return items.some((item, index) => item !== list[index]) ? items : list
  }
  return fits('object', value) ? value : notAsDeclared(place, 'an object', value)
}

function notAsDeclared(place: string, declared: string, value: unknown): GraphQLError {
  return restError(
    'REST_BAD_RESPONSE',
    `${place} is declared as ${declared}, but the upstream sent ${kindOf(value)}.`,
  )
}

/** The value, when the enum has a name for it. */
function listedValue(value: unknown, type: GraphQLEnumType, place: string): unknown {
  try {
    type.serialize(value)
    return value
  } catch (cause) {
    // Its own message quotes the value, which may be an object with members that no client may select.
    return restError(
      'REST_BAD_RESPONSE',
      `The upstream sent a value for ${place} that is not in the enum ${type.name}.`,
      {
        cause,
      },
    )
  }
}

/** The value with an error wherever the scalar cannot represent it. `depth` is how many lists are inside each other. */
function checkedScalar(
  value: unknown,
  type: TypeReference,
  place: string,
  depth: number,
  leaf: GraphQLLeafType,
): unknown {
  if (value === null || value === undefined) return null
  if (depth > 0 && Array.isArray(value)) {
    const list: readonly unknown[] = value
    const items = list.map((item) => checkedScalar(item, type, place, depth - 1, leaf))
    return items.some((item, index) => item !== list[index] && list[index] !== undefined) ? items : list
  }
  if (depth > 0 || typeof value === 'object') throw notAsDeclared(place, type.text, value)
  if (isRepresented(leaf.name, value)) return value
  try {
    leaf.serialize(value)
    return value
  } catch (cause) {
    const number = Number(value)
    const isLong = leaf.name === 'Int' && Number.isInteger(number) && (number | 0) !== number
    const why = isLong
      ? `${place} is an integer that exceeds 32 bits; declare the field as long.`
      : `The upstream sent ${kindOf(value)} for ${place} that ${leaf.name} cannot represent.`
    return restError('REST_BAD_RESPONSE', why, { cause })
  }
}

/** Whether a value is of the kind that is declared, without asking its type. */
function isRepresented(name: string, value: unknown): boolean {
  if (name === 'String' || name === 'ID') return typeof value === 'string'
  if (name === 'Int') return typeof value === 'number' && (value | 0) === value
  if (name === 'Float') return typeof value === 'number' && Number.isFinite(value)
  return name === 'Boolean' && typeof value === 'boolean'
}
