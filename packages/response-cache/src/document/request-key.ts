import { canonicalJson, createAttachment, keyed } from '@vinyasa/core'
import { printSchema, type GraphQLSchema } from 'graphql'
import { hash } from 'node:crypto'
import type { DocumentProfile } from './document-profile.ts'

export interface RequestIdentity {
  readonly operationName?: string | null | undefined
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined
  readonly headers: Pick<Headers, 'get'>
  readonly session?: string | null | undefined
  /** The key of the operation's access rule for the caller. `null` means that a part is refused. */
  readonly access?: string | null | undefined
}

export interface RequestKey {
  readonly key: string
  /** Whether a vary header has a value or a session exists. The response is then private. */
  readonly isPersonal: boolean
}

/**
 * Creates the keys of one cache. Specification: "Response cache key". `sameBytes` is an object that all requests with
 * equal bytes share.
 */
export type RequestKeyFactory = (
  profile: DocumentProfile,
  identity: RequestIdentity,
  sameBytes?: object | undefined,
) => RequestKey | undefined

/** The parts of a key that the request body does not determine. Only these distinguish requests with equal bodies. */
type BesideBody = Omit<RequestIdentity, 'operationName' | 'variables'>
type Parts = readonly (string | null | undefined)[]

/** The key of a body, and the other parts of the identity that it was computed from. */
interface RememberedKey {
  readonly profile: DocumentProfile
  readonly beside: Parts
  readonly key: RequestKey
}

export interface RequestKeyOptions {
  /** Distinguishes servers that share a store but use different backends. */
  readonly prefix?: string | undefined
  /**
   * Whether a session identifies the caller. Then cookies, and sources with undeclared callers, do not disable the
   * cache.
   */
  readonly hasSession?: boolean | undefined
}

/** Creates the key factory. It returns `undefined` for requests without a usable key. */
export function createRequestKeyFactory({
  prefix,
  hasSession = false,
}: RequestKeyOptions = {}): RequestKeyFactory {
  const remembered = createAttachment<RememberedKey>()

  /** Gateways that share a store but have different schemas must not share entries. */
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
    const variables = canonicalVariables(profile.variableNames, identity.variables)
    if (variables === undefined) return undefined
    const parts = [scopeOf(profile.schema), profile.digest, identity.operationName, variables, ...beside]
    const key = { key: sha256(frame(parts)), isPersonal: isOfSomebody(profile, identity) }
    if (sameBytes) remembered.set(sameBytes, { profile, beside, key })
    return key
  }
}

/** Joins parts unambiguously. Each part follows its length, and a missing part differs from an empty part. */
function frame(parts: Parts): string {
  let text = ''
  for (const part of parts) text += part == null ? '-' : `${part.length}:${part}`
  return text
}

function sha256(text: string): string {
  return hash('sha256', text, 'base64url')
}

/**
 * Returns the given values of declared variables. A missing value and null differ. Returns `undefined` if a value is
 * not plain JSON.
 */
function canonicalVariables(
  names: readonly string[],
  variables: Readonly<Record<string, unknown>> | null | undefined,
): string | undefined {
  if (names.length === 0 || !variables) return '{}'
  const declared: Record<string, unknown> = Object.create(null)
  for (const name of names) {
    if (Object.hasOwn(variables, name)) declared[name] = variables[name]
  }
  return canonicalJson(declared)
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

/** Returns whether the request has a cookie, which can identify the caller and is not part of the key. */
function hidesCaller({ varyNames }: DocumentProfile, headers: Pick<Headers, 'get'>): boolean {
  return headers.get('cookie') !== null && !varyNames.includes('cookie')
}

/** Returns the reason why a request has no key. */
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

/** Returns whether the response to a request without a key can depend on the caller. */
export function mayBePersonal(
  profile: DocumentProfile,
  { headers, session }: Pick<RequestIdentity, 'headers' | 'session'>,
): boolean {
  const { isPrivate, variesBy, access, varyNames } = profile
  if (session != null || access?.keyOf || isPrivate || variesBy.isPersonal || variesBy.unknown !== undefined)
    return true
  return headers.get('cookie') !== null || varyNames.some((name) => headers.get(name) !== null)
}
