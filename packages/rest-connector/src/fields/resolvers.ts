import { offerField, recordedRoot } from '@vinyasa/source-kit'
import {
  getNullableType,
  isLeafType,
  isListType,
  type GraphQLFieldResolver,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
} from 'graphql'
import type { Call, FieldScope } from '../call/call.ts'
import type { CompiledEndpoint } from '../declare/endpoint.ts'
import { restError } from '../errors.ts'
import type { TypeReference } from '../declare/fields.ts'
import { markMember } from '../declare/members.ts'
import { markResolver } from '../json/planned-field.ts'
import { restFastPath } from './rest-fast-path.ts'
import { signalsOf } from '../http/signals.ts'
import type { Args } from '../templates/template.ts'

/** Resolves a root field by calling its endpoint, unless a plan has called it already. */
export function rootResolver(
  endpoint: CompiledEndpoint,
  call: Call,
  isPlannable: boolean,
): GraphQLFieldResolver<unknown, unknown> {
  const checked = (result: unknown): unknown => checkedShape(endpoint, result)
  const resolve: GraphQLFieldResolver<unknown, unknown> = async (_source, args: Args, context, info) => {
    const recorded = recordedRoot(info)
    const result = recorded ? await recorded() : checked(await call(args, rootScope(context, info)))
    return withObjects(result, info.returnType, endpoint.name)
  }
  if (isPlannable) offerField(markResolver(resolve, { kind: 'endpoint', call, checked }), restFastPath)
  return resolve
}

/** What an operation hands to the calls made for it. */
export function scopeOf(context: unknown, info: GraphQLResolveInfo): FieldScope {
  return {
    signals: signalsOf(context, executionSignal(info as InfoWithSignal)),
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

interface InfoWithSignal {
  /** Of `@graphql-tools/executor`, which Yoga uses. */
  readonly signal?: unknown
  /** Of graphql-js 17. */
  readonly getAbortSignal?: (() => unknown) | undefined
}

function executionSignal({ signal, getAbortSignal }: InfoWithSignal): unknown {
  return signal ?? getAbortSignal?.()
}

/** The result, when it is what the declared type says: a list, an object, or anything for JSON. */
export function checkedShape({ name, returnType }: CompiledEndpoint, result: unknown): unknown {
  if (result === null || result === undefined || returnType.name === 'JSON') return result
  if (returnType.isList === Array.isArray(result)) return result
  const [expected, got] = returnType.isList ? ['a list', 'something else'] : ['one value', 'a list']
  const cause = new Error(
    `REST endpoint "${name}" is declared as ${returnType.text} and must answer with ${expected}, but gave ${got}; ` +
      `check returnType and responsePath.`,
  )
  throw restError('REST_BAD_RESPONSE', `The upstream must answer with ${expected}, but gave ${got}.`, {
    cause,
  })
}

const SCALARS: ReadonlySet<string> = new Set(['String', 'Int', 'Float', 'Boolean', 'ID', 'Long'])

/**
 * Reads one member of a response. Scalars are checked first, because GraphQL's own message about a value of the wrong
 * kind quotes it, and the value may be an object with members that no client may select. Names that every object
 * inherits and members under another key need a resolver too; all else is left to the executor's default.
 */
export function fieldResolver(
  typeName: string,
  name: string,
  key: string,
  type: TypeReference,
): GraphQLFieldResolver<unknown, unknown> | undefined {
  if (SCALARS.has(type.name)) {
    const place = `${typeName}.${name}`
    return markMember((source) => checkedScalar(own(source, key), type, place), { key, isScalar: true })
  }
  if (type.name === 'JSON' && key === name && !(key in Object.prototype)) return undefined
  return markMember(
    (source: unknown, _args: unknown, _context: unknown, info: GraphQLResolveInfo) =>
      withObjects(own(source, key), info.returnType, `${typeName}.${name}`),
    { key, isScalar: false },
  )
}

/** The value with an error wherever an object is declared and something else came, which would be an object of nulls. */
function withObjects(value: unknown, type: GraphQLOutputType, place: string): unknown {
  const nullable = getNullableType(type)
  if (value === null || value === undefined || isLeafType(nullable)) return value
  if (isListType(nullable)) {
    if (!Array.isArray(value)) return value
    const list: readonly unknown[] = value
    const items = list.map((item) => withObjects(item, nullable.ofType as GraphQLOutputType, place))
    return items.some((item, index) => item !== list[index]) ? items : list
  }
  // A transformer may give functions and promises.
  if (typeof value === 'function' || (typeof value === 'object' && !Array.isArray(value))) return value
  const got = Array.isArray(value) ? 'a list' : `a ${typeof value}`
  return restError('REST_BAD_RESPONSE', `${place} is declared as an object, but the upstream gave ${got}.`)
}

function own(source: unknown, key: string): unknown {
  if (typeof source !== 'object' || source === null || !Object.hasOwn(source, key)) return null
  return (source as Record<string, unknown>)[key]
}

function checkedScalar(value: unknown, type: TypeReference, place: string): unknown {
  if (value === null || value === undefined) return null
  if (type.isList && Array.isArray(value)) {
    for (const item of value) checkedScalar(item, type, place)
    return value
  }
  if (typeof value === 'object')
    throw restError(
      'REST_BAD_RESPONSE',
      `${place} is declared as ${type.text}, but the upstream gave ${Array.isArray(value) ? 'a list' : 'an object'}.`,
    )
  if (type.name !== 'Int') return value
  const number = Number(value)
  if (Number.isInteger(number) && (number | 0) !== number)
    throw restError(
      'REST_BAD_RESPONSE',
      `${place} is an integer that does not fit 32 bits; declare the field as long.`,
    )
  return value
}
