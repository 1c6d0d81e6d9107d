import { useSources, type SourcesPlugin } from '@vinyasa/source-kit'
import type { GrpcSource } from './source.ts'

/** What Yoga adds to an Envelop plugin, as far as it is used here. */
export interface GrpcSourcePlugin extends SourcesPlugin {
  onRequest(payload: { readonly request: Request }): void
}

/**
 * Adds a source's fields to the server's schema, or makes them the schema of a server that has none.
 * Works beside other sources, in any order.
 * @throws SchemaConflictError from the server's constructor when a field is there already, naming both origins
 */
export function useGrpcSource(source: GrpcSource): GrpcSourcePlugin {
  return {
    ...useSources(source.contribution),
    onRequest({ request }) {
      source.requestArrived(request)
    },
  }
}
