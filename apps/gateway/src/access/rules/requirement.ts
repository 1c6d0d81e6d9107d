import type { AccessRule } from '../access-types.ts'
import type { Refused } from '../errors.ts'
import type { Identity } from '../../context/identity.ts'

/** A rule in one form: each list is of alternatives, each alternative of what must hold together. */
export interface Requirement {
  /** Somebody must be known to ask: always, but where policies alone decide. */
  readonly needsIdentity: boolean
  /** Undefined: none is asked for. */
  readonly scopes: readonly (readonly string[])[] | undefined
  readonly policies: readonly (readonly string[])[] | undefined
}

export type HoldsPolicy = (name: string, identity: Identity | undefined) => boolean

/** The policies of the config. */
export interface Policies {
  /** Whether an identity meets a policy. */
  readonly holds: HoldsPolicy
  /** Whether a policy depends on the claims only. Functions in the config can read anything. */
  readonly comparesClaims: (name: string) => boolean
}

export function toRequirement({ authenticated, scopes, policies }: AccessRule): Requirement | undefined {
  if (authenticated !== true && scopes === undefined && policies === undefined) return undefined
  const needsIdentity = authenticated === true || scopes !== undefined
  return { needsIdentity, scopes: alternatives(scopes), policies: alternatives(policies) }
}

function alternatives(lists: AccessRule['scopes']): Requirement['scopes'] {
  if (lists === undefined) return undefined
  const plain = lists.filter((item) => typeof item === 'string')
  return plain.length > 0 ? [plain] : (lists as readonly (readonly string[])[])
}

/** Why who asks may not have what all of these stand before; undefined: they may. */
export function refusalOf(
  requirements: readonly Requirement[],
  identity: Identity | undefined,
  holds: HoldsPolicy,
): Refused | undefined {
  const code = identity ? 'FORBIDDEN' : 'UNAUTHENTICATED'
  for (const { needsIdentity, scopes, policies } of requirements) {
    if (needsIdentity && !identity) return code
    if (!isOneHeld(scopes, (name) => identity?.scopes.has(name) === true)) return code
    if (!isOneHeld(policies, (name) => holds(name, identity))) return code
  }
  return undefined
}

/**
 * Returns whether everything of one alternative is held. An empty alternative never is, nor is one of an
 * empty list.
 */
function isOneHeld(lists: Requirement['scopes'], isHeld: (name: string) => boolean): boolean {
  return lists === undefined || lists.some((all) => all.length > 0 && all.every(isHeld))
}
