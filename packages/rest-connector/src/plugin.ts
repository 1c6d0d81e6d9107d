import { useSources, type SourcesPlugin } from '@vinyasa/source-kit'
import type { RestConnector } from './connector.ts'

/**
 * Adds the endpoints of one or several connectors to a server's schema, beside whatever else is in it; without any
 * other schema they are the schema.
 * @throws SchemaConflictError from the server's constructor when two places define one field
 */
export function useRestConnector(connectors: RestConnector | readonly RestConnector[]): SourcesPlugin {
  return useSources([connectors].flat().map(({ contribution }) => contribution))
}
