import { getNamedType, isLeafType, isObjectType, type GraphQLObjectType, type GraphQLSchema } from 'graphql'
import { keyed } from '@vinyasa/base'
import { possibleObjects } from '@vinyasa/documents'
import { statedDependsOn } from './statements.ts'

/** The types that a value of a type is made of. */
export interface TypeClosure {
  /** Object types: the value's own, those without an id field below it, and the first ones with one. */
  readonly types: ReadonlySet<string>
  /** A type with an id field is among them, by the fields alone; what a field states does not make it so. */
  readonly reachesEntity: boolean
  /** A field on the way states that it depends on `*`. */
  readonly isOpen: boolean
}

export interface TypeClosures {
  of(typeName: string): TypeClosure
  isEntity(typeName: string): boolean
}

/** Each closure is computed once, when it is first asked for. */
export function createTypeClosures(schema: GraphQLSchema, idFields: readonly string[]): TypeClosures {
  const roots = rootsOf(schema)
  let queried: ReadonlySet<string> | undefined

  /** The `id` of a payload that no query gives says nothing of what a mutation changed. */
  function hasId(type: GraphQLObjectType): boolean {
    if (!idFields.some((name) => name in type.getFields())) return false
    queried ??= typesBelow(schema, schema.getQueryType()?.name)
    return queried.has(type.name)
  }

  function isEntity(typeName: string): boolean {
    const type = schema.getType(typeName)
    return isObjectType(type) && hasId(type)
  }

  /** Adds to `types` what `typeName` is made of, and gives the names that fields on the way state. */
  function walk(typeName: string, types: Set<string>): string[] {
    const stated: string[] = []
    const waiting = [typeName]
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      for (const type of possibleObjects(schema, schema.getType(name))) {
        // A payload's `query: Query` offers another question; it is no part of the answer.
        if (roots.has(type) || types.has(type.name)) continue
        types.add(type.name)
        if (hasId(type)) continue
        for (const field of Object.values(type.getFields())) {
          stated.push(...(statedDependsOn(field) ?? []))
          const below = getNamedType(field.type)
          if (!isLeafType(below)) waiting.push(below.name)
        }
      }
    }
    return stated
  }

  function closureOf(typeName: string): TypeClosure {
    const types = new Set<string>()
    const waiting = walk(typeName, types)
    const reachesEntity = [...types].some(isEntity)
    let isOpen = false
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      if (name === '*') isOpen = true
      else if (schema.getType(name)) waiting.push(...walk(name, types))
      // A backend may announce more types than the schema has.
      else types.add(name)
    }
    return { types, reachesEntity, isOpen }
  }

  return { isEntity, of: keyed(closureOf) }
}

/** The types that operations stand on. */
export function rootsOf(schema: GraphQLSchema): ReadonlySet<GraphQLObjectType | null | undefined> {
  return new Set([schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()])
}

/** All object types that the fields of a type lead to. */
function typesBelow(schema: GraphQLSchema, root: string | undefined): ReadonlySet<string> {
  const found = new Set<string>()
  const waiting = root === undefined ? [] : [root]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    for (const type of possibleObjects(schema, schema.getType(name))) {
      if (found.has(type.name)) continue
      found.add(type.name)
      for (const field of Object.values(type.getFields())) {
        const below = getNamedType(field.type)
        if (!isLeafType(below)) waiting.push(below.name)
      }
    }
  }
  return found
}
