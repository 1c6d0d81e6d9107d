import type { AccessConfig, PolicyConfig } from '../access-types.ts'
import { claimAt } from '../../context/identity.ts'
import type { HoldsPolicy } from './requirement.ts'

/** Creates the function that says whether a named policy holds. A policy that throws does not hold. */
export function createPolicies(
  policies: AccessConfig['policies'] = {},
  onError: (error: unknown) => void,
): HoldsPolicy {
  const meanings = new Map(Object.entries(policies).map(([name, policy]) => [name, meaningOf(policy)]))
  return (name, identity) => {
    try {
      // Only what is true lets in: not the promise of an answer, either.
      return meanings.get(name)?.(identity) === true
    } catch (error) {
      onError(new Error(`access.policies["${name}"] threw an error`, { cause: error }))
      return false
    }
  }
}

function meaningOf(policy: PolicyConfig): Extract<PolicyConfig, (...args: never[]) => boolean> {
  if (typeof policy === 'function') return policy
  const accepted: readonly unknown[] = policy.is
  return (identity) => {
    const claim = identity && claimAt(identity.claims, policy.claim)
    return (Array.isArray(claim) ? claim : [claim]).some((item) => accepted.includes(item))
  }
}
