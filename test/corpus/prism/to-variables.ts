import type { TypeDefinitions } from '@vinyasa/rest-connector'
import { isListType, isNonNullType, type GraphQLInputType } from 'graphql'
import { asNode } from './schema-sample.ts'

/** A JSON value that no variable of the type can stand for. */
export class NotExpressible extends Error {}

/** What a client writes so that the API is sent the value. */
export function toVariable(value: unknown, type: GraphQLInputType, types: TypeDefinitions): unknown {
  if (isNonNullType(type)) return toVariable(value, type.ofType as GraphQLInputType, types)
  if (isListType(type)) {
    const item = type.ofType as GraphQLInputType
    const name = entryName(item, types)
    if (name !== undefined) return toEntries(value, item, types)
    if (!Array.isArray(value)) throw new NotExpressible(`${JSON.stringify(value)} is no list`)
    return value.map((one) => toVariable(one, item, types))
  }
  const definition = types[type.name]
  if (definition?.kind === 'enum') {
    const found = Object.entries(definition.values).find(([, { value: own }]) => own === value)
    if (!found) throw new NotExpressible(`${JSON.stringify(value)} is no ${type.name}`)
    return found[0]
  }
  if (definition?.kind === 'input') {
    const fields = ('getFields' in type ? type.getFields() : {}) as Record<string, { type: GraphQLInputType }>
    return definition.isOneOf === true
      ? toOption(value, type.name, fields, types)
      : toInput(value, type.name, fields, types)
  }
  return toScalar(value, type.name)
}

function toInput(
  value: unknown,
  name: string,
  fields: Record<string, { type: GraphQLInputType }>,
  types: TypeDefinitions,
): unknown {
  const definition = types[name]
  if (definition?.kind !== 'input' || typeof value !== 'object' || value === null || Array.isArray(value))
    throw new NotExpressible(`${JSON.stringify(value)} is no ${name}`)
  const byKey = new Map(Object.entries(definition.fields).map(([field, { key = field }]) => [key, field]))
  const written = Object.entries(value).map(([key, member]) => {
    const field = byKey.get(key)
    const type = field === undefined ? undefined : fields[field]?.type
    if (field === undefined || !type) throw new NotExpressible(`${name} has no field for "${key}"`)
    return [field, toVariable(member, type, types)]
  })
  for (const [field, { type }] of Object.entries(fields))
    if (isNonNullType(type) && !written.some(([one]) => one === field))
      throw new NotExpressible(`${name}.${field} is required`)
  return Object.fromEntries(written)
}

function toOption(
  value: unknown,
  name: string,
  fields: Record<string, { type: GraphQLInputType }>,
  types: TypeDefinitions,
): unknown {
  const reasons: string[] = []
  for (const [field, { type }] of Object.entries(fields))
    try {
      return { [field]: toVariable(value, type, types) }
    } catch (error) {
      if (!(error instanceof NotExpressible)) throw error
      reasons.push(error.message)
    }
  throw new NotExpressible(`${name}: ${reasons.join('; ')}`)
}

function entryName(type: GraphQLInputType, types: TypeDefinitions): string | undefined {
  const named = isNonNullType(type) ? type.ofType : type
  return 'name' in named && types[named.name]?.kind === 'input entry' ? named.name : undefined
}

function toEntries(value: unknown, item: GraphQLInputType, types: TypeDefinitions): unknown {
  const named = isNonNullType(item) ? item.ofType : item
  const fields = ('getFields' in named ? named.getFields() : {}) as Record<string, { type: GraphQLInputType }>
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new NotExpressible(`${JSON.stringify(value)} is no object of entries`)
  return Object.entries(value).map(([key, member]) => ({
    key,
    value: toVariable(member, fields['value']?.type as GraphQLInputType, types),
  }))
}

function toScalar(value: unknown, name: string): unknown {
  const isRight =
    name === 'JSON' ||
    (name === 'Boolean'
      ? typeof value === 'boolean'
      : name === 'Int' || name === 'Float' || name === 'Long'
        ? typeof value === 'number'
        : typeof value === 'string' || (name === 'ID' && typeof value === 'number'))
  if (!isRight) throw new NotExpressible(`${JSON.stringify(value)} is no ${name}`)
  return name === 'Long' ? String(value) : value
}

/** Takes away, by chance, what the types say may be absent. */
export function thinOut(value: unknown, type: GraphQLInputType, isDropped: () => boolean): unknown {
  if (isNonNullType(type)) return thinOut(value, type.ofType as GraphQLInputType, isDropped)
  if (isListType(type))
    return Array.isArray(value)
      ? value.map((one) => thinOut(one, type.ofType as GraphQLInputType, isDropped))
      : value
  if (!('getFields' in type)) return value
  const fields = type.getFields() as Record<string, { type: GraphQLInputType }>
  return Object.fromEntries(
    Object.entries(asNode(value)).flatMap(([name, member]) => {
      const field = fields[name]?.type as GraphQLInputType
      const isKept = isNonNullType(field) || type.isOneOf || name === 'value' || !isDropped()
      return isKept ? [[name, thinOut(member, field, isDropped)]] : []
    }),
  )
}
