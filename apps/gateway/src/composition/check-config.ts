import type { GraphQLSchema } from 'graphql'
import { checkAccess } from '../access/rules/check-access.ts'
import type { GatewayConfig } from '../config/types.ts'
import { checkCost } from '../cost/check-cost.ts'
import { refuseUnknownAsker } from '../dependencies/asker.ts'
import { checkStatements } from '../dependencies/statements.ts'
import { checkRateLimit } from '../rate-limit/rate-limit.ts'
import { checkCoordinates } from './check-coordinates.ts'

/** Throws `ConfigError` where a config speaks of what the schema does not have. */
export function checkConfig(schema: GraphQLSchema, config: GatewayConfig): void {
  checkStatements(schema, config.dependencies ?? {})
  checkCoordinates(schema, config)
  checkAccess(schema, config.access)
  checkRateLimit(schema, config.rateLimit)
  checkCost(schema, config.cost)
  refuseUnknownAsker(schema, config)
}
