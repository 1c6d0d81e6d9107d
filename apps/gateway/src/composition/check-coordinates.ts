import type { GraphQLSchema } from 'graphql'
import type { GatewayConfig } from '../config/types.ts'
import { mistakeAt } from '../errors.ts'
import { fieldAt, suggestFor } from '../coordinates.ts'

/** Throws `ConfigError` for options of behaviours about what the schema does not have. */
export function checkCoordinates(
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
