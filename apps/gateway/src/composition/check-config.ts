import { type GraphQLError, type GraphQLSchema, isObjectType, validateSchema } from 'graphql'
import { checkAccess } from '../access/rules/check-access.ts'
import type { GatewayConfig } from '../config/types.ts'
import { checkCost } from '../cost/check-cost.ts'
import { refuseUnknownCaller } from '../dependencies/varies-by.ts'
import { checkStatements } from '../dependencies/statements.ts'
import { checkRateLimit } from '../rate-limit/rate-limit.ts'
import type { Finding } from '@vinyasa/base'
import { fieldAt, suggestFor } from '../coordinates.ts'
import { ConfigError, findingAt, mistakeAt } from '../errors.ts'
import { pathOfDeclared, pathOfOrigin } from '../sources/elements.ts'
import { findingsIn } from '../texts/type-defs-text.ts'

/** Throws `ConfigError` for options of behaviours about what the schema does not have. */
function checkCoordinates(
  schema: GraphQLSchema,
  { responseCache = false, liveQuery = {} }: Pick<GatewayConfig, 'liveQuery' | 'responseCache'>,
): void {
  const { ttlMsBySchemaCoordinate = {}, ignoredTypes = [] } =
    typeof responseCache === 'object' ? responseCache : {}
  for (const [index, type] of ignoredTypes.entries())
    if (!schema.getType(type))
      throw mistakeAt(
        ['responseCache', 'ignoredTypes', index],
        `the schema has no type "${type}"${suggestFor(schema, type)}`,
      )
  for (const coordinate of Object.keys(ttlMsBySchemaCoordinate)) {
    if (coordinate.includes('.') ? fieldAt(schema, coordinate) : schema.getType(coordinate)) continue
    throw mistakeAt(
      ['responseCache', 'ttlMsBySchemaCoordinate', coordinate],
      `the schema has no such field or type${suggestFor(schema, coordinate)}`,
    )
  }
  const queryName = schema.getQueryType()?.name ?? 'Query'
  for (const name of Object.keys(liveQuery === false ? {} : (liveQuery.fields ?? {}))) {
    const coordinate = `${queryName}.${name}`
    if (!fieldAt(schema, coordinate))
      throw mistakeAt(
        ['liveQuery', 'fields', name],
        `the schema has no field ${coordinate}${suggestFor(schema, coordinate)}`,
      )
  }
}

/** Throws `ConfigError` if the schema is not valid, or if the config names something that it does not have. */
export function checkConfig(schema: GraphQLSchema, config: GatewayConfig): void {
  const invalid = validateSchema(schema)
  if (invalid.length > 0) throw new ConfigError(invalid.flatMap((error) => placesOf(error, schema, config)))
  checkStatements(schema, config.dependencies ?? {})
  checkCoordinates(schema, config)
  checkAccess(schema, config.access)
  checkRateLimit(schema, config.rateLimit)
  checkCost(schema, config.cost)
  refuseUnknownCaller(schema, config)
}

/** The place in `typeDefs`, or in the source that the first known name in the message comes from. */
function placesOf(error: GraphQLError, schema: GraphQLSchema, config: GatewayConfig): readonly Finding[] {
  if (error.nodes?.some(({ loc }) => loc)) return findingsIn([error])
  for (const name of error.message.match(/\b[A-Za-z_]\w*(?:\.\w+)?/g) ?? []) {
    const [typeName = '', field] = name.split('.')
    const type = schema.getType(typeName)
    const made = fieldAt(schema, name) ?? (isObjectType(type) ? type : undefined)
    const path =
      pathOfDeclared(typeName, field, config) ?? pathOfOrigin(String(made?.extensions['origin']), config)
    if (path) return [findingAt(path, error.message)]
  }
  return [{ message: `The schema is not valid: ${error.message}` }]
}
