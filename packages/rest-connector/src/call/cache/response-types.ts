import { statedDependsOn } from '@vinyasa/invalidation'
import { getNamedType, isAbstractType, isLeafType, isObjectType, type GraphQLSchema } from 'graphql'
import type { CompiledEndpoint } from '../../declare/endpoint.ts'
import type { ResponseTypes } from './response-cache.ts'

/**
 * All types that a response is made of: a kept one holds every member, whatever was selected, entities inside entities
 * too, and what the schema's fields state. Fields that are fetched for themselves are no part of it. `any` where that
 * is nothing, or of types that the schema does not know.
 */
export function responseTypesOf(
  { types: declared, returnType }: CompiledEndpoint,
  schema: GraphQLSchema,
  clientType: (own: string) => string = (own) => own,
): ResponseTypes {
  const found = new Set<string>()
  const root = schema.getQueryType()
  const own = new Set([...declared].map(clientType))
  const waiting = [...own, clientType(returnType.name)]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const type = schema.getType(name)
    if (name === '*' || (type === undefined && own.has(name))) return 'any'
    if (found.has(name) || isLeafType(type)) continue
    found.add(name)
    if (isAbstractType(type)) waiting.push(...schema.getPossibleTypes(type).map((member) => member.name))
    if (!isObjectType(type) || type === root) continue
    for (const field of Object.values(type.getFields())) {
      if (field.extensions['requires'] !== undefined) continue
      waiting.push(getNamedType(field.type).name, ...(statedDependsOn(field) ?? []))
    }
  }
  return found
}
