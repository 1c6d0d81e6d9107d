import { readdirSync, readFileSync } from 'node:fs'

/** What a client wants with a request. A client has at most one request of each kind. */
export type RequestKind =
  | 'query'
  | 'query by GET'
  | 'conditional query'
  | 'query with variables'
  | 'mutation'
  | 'persisted query'
  | 'persisted query with its document'
  | 'deferred query'
  | 'subscription'
  | 'preflight'

/** A request as a client sends it, without the headers that depend on the connection. */
export interface CapturedRequest {
  readonly kind: RequestKind
  readonly method: 'GET' | 'POST' | 'OPTIONS'
  readonly target: string
  /** Names and values, in the order and the letter case in which they are sent. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

/** The requests of one client, as `test/corpus/clients/<client>.json` contains them. */
export interface CapturedClient {
  readonly client: string
  readonly version: string
  /** `recorded` if `test/corpus/clients/record.ts` records the client. Otherwise the source that the requests follow. */
  readonly source: string
  readonly requests: readonly CapturedRequest[]
}

/** The entity tag of the recorded responses. Replace it with the tag of the response that the client has. */
export const CAPTURED_ETAG = '"recorded"'

export const CLIENTS_FOLDER: URL = new URL('../corpus/clients/', import.meta.url)

export const capturedClients: readonly CapturedClient[] = readdirSync(CLIENTS_FOLDER)
  .filter((name) => name.endsWith('.json'))
  .sort()
  .map((name): CapturedClient => JSON.parse(readFileSync(new URL(name, CLIENTS_FOLDER), 'utf8')))

/** Returns the target and the body of a captured request. `params` replace parameters of the same name. */
export function messageOf(
  { method, target, body }: CapturedRequest,
  params: object,
): { readonly path: string; readonly body: string } {
  if (method === 'POST') return { path: target, body: JSON.stringify({ ...JSON.parse(body), ...params }) }
  const [path = '', search] = target.split('?')
  const sent = new URLSearchParams(search)
  for (const [name, value] of Object.entries(params))
    sent.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  return { path: `${path}?${sent}`, body }
}
