import { useSources, type SourcesPlugin } from '@vinyasa/source-kit'
import type { AnswerHead } from './methods/reply-headers.ts'
import type { GrpcSource } from './source.ts'

/** An Envelop plugin with the hooks of Yoga that are used here. */
interface GrpcSourcePlugin extends SourcesPlugin {
  onRequest(payload: { readonly request: Request }): void
  onResponse(payload: { readonly request: Request; readonly response: Response }): void
  readonly behaviour: SourcesPlugin['behaviour'] & {
    receive(request: Request): void
    respond(exchange: { readonly request: Request }, response: AnswerHead): void
  }
}

/**
 * Adds a source's fields to the server's schema, or makes them the schema of a server that has none.
 * Works beside other sources, in any order.
 * @throws SchemaConflictError from the server's constructor when a field is there already, naming both origins
 */
export function useGrpcSource(source: GrpcSource): GrpcSourcePlugin {
  const sources = useSources(source.contribution)
  return {
    ...sources,
    behaviour: {
      ...sources.behaviour,
      receive: (request) => source.requestArrived(request),
      respond: ({ request }, response) => source.responding(request, response),
    },
    onRequest({ request }) {
      source.requestArrived(request)
    },
    onResponse({ request, response }) {
      source.responding(request, response)
    },
  }
}
