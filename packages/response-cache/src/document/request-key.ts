import { createAttachment } from '@vinyasa/yoga-internals'
import { printSchema, type GraphQLSchema } from 'graphql'
import type { DocumentProfile } from './document-profile.ts'
import { canonicalVariables, frame, sha256 } from './key.ts'

export interface RequestIdentity {
  readonly operationName?: string | null | undefined
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined
  readonly headers: Pick<Headers, 'get'>
  readonly session?: string | null | undefined
  /** The key that the operation's access rule has for whoever asks; `null`: a part is refused. */
  readonly access?: string | null | undefined
}

export interface RequestKey {
  readonly key: string
  /** A vary header had a value, or there is a session: the answer is for somebody. */
  readonly isPersonal: boolean
}

/**
 * Makes the keys of one cache. Specification: "Response cache key". `sameBytes` is one object for all requests with the
 * same operation and variables, where somebody knows.
 */
export type RequestKeyFactory = (
  profile: DocumentProfile,
  identity: RequestIdentity,
  sameBytes?: object | undefined,
) => RequestKey | undefined

/** The key of a body, and the headers that it was made with. */
interface RememberedKey {
  readonly profile: DocumentProfile
  readonly values: readonly (string | null)[]
  readonly key: RequestKey
}

export interface RequestKeyOptions {
  /** Sets apart those who share a store, but do not stand in front of the same backends. */
  readonly prefix?: string | undefined
  /** Whether a session says who asks: then neither a cookie nor a source that cannot tell keeps a request out. */
  readonly hasSession?: boolean | undefined
}

/** The returned function gives undefined for requests that no key can stand for. */
export function createRequestKeyFactory({
  prefix,
  hasSession = false,
}: RequestKeyOptions = {}): RequestKeyFactory {
  const scopes = new WeakMap<GraphQLSchema, string>()
  const remembered = createAttachment<RememberedKey>()

  /** Gateways that share a store but not a schema must not share entries. */
  function scopeOf(schema: GraphQLSchema): string {
    let scope = scopes.get(schema)
    if (scope === undefined) scopes.set(schema, (scope = sha256(frame([prefix, printSchema(schema)]))))
    return scope
  }

  /** Undefined where there is none. */
  function make(profile: DocumentProfile, identity: RequestIdentity): RequestKey | undefined {
    const { operationName, variables, headers, session, access } = identity
    const canonical = canonicalVariables(profile.variableNames, variables)
    if (canonical === undefined) return undefined
    let isPersonal = session != null || access !== undefined
    const parts = [scopeOf(profile.schema), profile.digest, operationName, canonical, session]
    if (access !== undefined) parts.push(access)
    for (const name of profile.varyNames) {
      const value = headers.get(name)
      if (value !== null) isPersonal = true
      parts.push(name, value)
    }
    return { key: sha256(frame(parts)), isPersonal }
  }

  return (profile, identity, sameBytes) => {
    const { headers, session, access } = identity
    if (access === null) return undefined
    if (!hasSession && (profile.asker.unknown !== undefined || hidesAsker(profile, headers))) return undefined
    if (!sameBytes || session != null || access !== undefined) return make(profile, identity)
    const before = remembered.get(sameBytes)
    const isSame = (name: string, index: number): boolean => headers.get(name) === before?.values[index]
    if (before?.profile === profile && profile.varyNames.every(isSame)) return before.key
    const key = make(profile, identity)
    if (key)
      remembered.set(sameBytes, { profile, values: profile.varyNames.map((name) => headers.get(name)), key })
    return key
  }
}

/** A cookie may say who asks, and nobody has said that it counts. */
function hidesAsker({ varyNames }: DocumentProfile, headers: Pick<Headers, 'get'>): boolean {
  return headers.get('cookie') !== null && !varyNames.includes('cookie')
}

/** Whether the answer to a request that has no key may depend on who asks. */
export function mayBePersonal(
  profile: DocumentProfile,
  { headers, session }: Pick<RequestIdentity, 'headers' | 'session'>,
): boolean {
  const { isPrivate, asker, access, varyNames } = profile
  if (session != null || access || isPrivate || asker.isPersonal || asker.unknown !== undefined) return true
  return headers.get('cookie') !== null || varyNames.some((name) => headers.get(name) !== null)
}
