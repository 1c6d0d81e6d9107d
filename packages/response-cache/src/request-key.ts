import { printSchema, type GraphQLSchema } from 'graphql'
import type { DocumentProfile } from './document-profile.ts'
import { canonicalVariables, frame, sha256 } from './key.ts'

export interface RequestIdentity {
  readonly operationName?: string | null | undefined
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined
  readonly headers: Pick<Headers, 'get'>
  readonly session?: string | null | undefined
}

export interface RequestKey {
  readonly key: string
  /** A vary header had a value, or there is a session: the answer is for somebody. */
  readonly isPersonal: boolean
}

/** Makes the keys of one cache. Specification: "Response cache key". */
export type RequestKeyFactory = (
  profile: DocumentProfile,
  identity: RequestIdentity,
) => RequestKey | undefined

export interface RequestKeyOptions {
  readonly varyHeaders: readonly string[]
  /** Nobody said what identifies a user, so a request with cookies has no key: one may say who asks. */
  readonly refusesCookies?: boolean | undefined
}

/** The returned function gives undefined for requests that no key can stand for. */
export function createRequestKeyFactory({
  varyHeaders,
  refusesCookies = false,
}: RequestKeyOptions): RequestKeyFactory {
  const names = [...new Set(varyHeaders.map((name) => name.toLowerCase()))].sort()
  const schemaDigests = new WeakMap<GraphQLSchema, string>()

  /** Gateways that share a store but not a schema must not share entries. */
  function digestOf(schema: GraphQLSchema): string {
    let digest = schemaDigests.get(schema)
    if (digest === undefined) schemaDigests.set(schema, (digest = sha256(printSchema(schema))))
    return digest
  }

  return (profile, { operationName, variables, headers, session }) => {
    if (refusesCookies && headers.get('cookie') !== null) return undefined
    const canonical = canonicalVariables(profile.variableNames, variables)
    if (canonical === undefined) return undefined
    let isPersonal = session != null
    const parts = [digestOf(profile.schema), profile.digest, operationName, canonical, session]
    for (const name of names) {
      const value = headers.get(name)
      if (value !== null) isPersonal = true
      parts.push(name, value)
    }
    return { key: sha256(frame(parts)), isPersonal }
  }
}
