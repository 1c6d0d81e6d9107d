import { toVariesBy, type VariesBy } from '@vinyasa/invalidation'
import type { ReadsHeaders } from './interceptors/interceptor.ts'
import type { RestConnectorOptions } from './options.ts'

/** Returns the parts of a client's request that can change the connector's answers, if there are any. */
export function variesByOf(connector: string, options: RestConnectorOptions): VariesBy | undefined {
  const { forwardHeaders = [], interceptors = [], transformer } = options
  const readers: [option: string, reader: ReadsHeaders][] = interceptors.map((interceptor, index) => [
    `interceptors[${index}]`,
    interceptor,
  ])
  // One that takes the response alone does not see the context.
  if (transformer && transformer.length !== 1) readers.push(['transformer', transformer])
  const unknown = readers
    .filter(([, { readsHeaders }]) => readsHeaders === undefined)
    .map(([option]) => option)
  const headers = [...forwardHeaders, ...readers.flatMap(([, { readsHeaders }]) => readsHeaders ?? [])]
  if (unknown.length === 0) return toVariesBy(headers)
  return toVariesBy(
    headers,
    `rest connector "${connector}": ${unknown.join(' and ')} can depend on the caller; set readsHeaders of each function to the names of the request headers that the function reads, or to []`,
  )
}
