import { createAttachment, keyed } from '@vinyasa/core'
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

/** What a key is made of that the body says. */
type OfBody = Pick<RequestIdentity, 'operationName' | 'variables'>
/** The rest: requests with equal bodies are told apart by these alone. */
type BesideBody = Omit<RequestIdentity, keyof OfBody>
type Parts = readonly (string | null | undefined)[]

/** The key of a body, and what it was made of beside the body. */
interface RememberedKey {
  readonly profile: DocumentProfile
  readonly beside: Parts
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
  const remembered = createAttachment<RememberedKey>()

  /** Gateways that share a store but not a schema must not share entries. */
  const scopeOf = keyed(
    (schema: GraphQLSchema) => sha256(frame([prefix, printSchema(schema)])),
    new WeakMap<GraphQLSchema, string>(),
  )

  return (profile, identity, sameBytes) => {
    const { headers, access } = identity
    if (access === null) return undefined
    const { unknown, isPersonal } = profile.variesBy
    if (!hasSession && (isPersonal || unknown !== undefined || hidesCaller(profile, headers)))
      return undefined
    const beside = partsBesideBody(profile, identity)
    const before = sameBytes && remembered.get(sameBytes)
    if (before?.profile === profile && isEqual(before.beside, beside)) return before.key
    const ofBody = partsOfBody(profile, identity)
    if (!ofBody) return undefined
    const parts = [scopeOf(profile.schema), ...ofBody, ...beside]
    const key = { key: sha256(frame(parts)), isPersonal: isOfSomebody(profile, identity) }
    if (sameBytes) remembered.set(sameBytes, { profile, beside, key })
    return key
  }
}

function partsOfBody(profile: DocumentProfile, body: OfBody): Parts | undefined {
  const variables = canonicalVariables(profile.variableNames, body.variables)
  return variables === undefined ? undefined : [profile.digest, body.operationName, variables]
}

function partsBesideBody({ varyNames }: DocumentProfile, { headers, session, access }: BesideBody): Parts {
  const parts: (string | null | undefined)[] = access === undefined ? [session] : [session, access]
  for (const name of varyNames) parts.push(name, headers.get(name))
  return parts
}

function isEqual(one: Parts, other: Parts): boolean {
  return one.length === other.length && one.every((part, index) => part === other[index])
}

function isOfSomebody({ varyNames }: DocumentProfile, { headers, session, access }: BesideBody): boolean {
  return session != null || access !== undefined || varyNames.some((name) => headers.get(name) !== null)
}

/** A cookie may say who asks, and nobody has said that it counts. */
function hidesCaller({ varyNames }: DocumentProfile, headers: Pick<Headers, 'get'>): boolean {
  return headers.get('cookie') !== null && !varyNames.includes('cookie')
}

/** Tells why a request has no key. */
export function whyNoKey(
  profile: DocumentProfile,
  { headers, access }: RequestIdentity,
  hasSession: boolean,
): string {
  if (access === null) return 'the caller is not allowed to read a field of the operation'
  const { unknown, isPersonal } = profile.variesBy
  if (!hasSession && unknown !== undefined) return unknown
  if (!hasSession && hidesCaller(profile, headers))
    return 'the request has a cookie, which is not part of the cache key'
  if (!hasSession && isPersonal)
    return 'the response depends on code that does not declare which request headers are read, and the option session is not set'
  return 'the variables contain values that are not JSON, such as files'
}

/** Whether the answer to a request that has no key may depend on who asks. */
export function mayBePersonal(
  profile: DocumentProfile,
  { headers, session }: Pick<RequestIdentity, 'headers' | 'session'>,
): boolean {
  const { isPrivate, variesBy, access, varyNames } = profile
  if (session != null || access?.keyOf || isPrivate || variesBy.isPersonal || variesBy.unknown !== undefined)
    return true
  return headers.get('cookie') !== null || varyNames.some((name) => headers.get(name) !== null)
}
