import type { ExecutionResult, GraphQLError } from 'graphql'
import type { LiveQueryRegistration } from '../store/registration.ts'

export type AnyResult = ExecutionResult | AsyncIterable<ExecutionResult>

export type LiveRegistration = Omit<LiveQueryRegistration, 'id' | 'channel'>

/** The outcome of an operation. `errors`: it was not executed. */
export type Answer =
  | { readonly kind: 'errors'; readonly errors: readonly GraphQLError[] }
  | { readonly kind: 'result'; readonly result: AnyResult }
  | { readonly kind: 'live'; readonly registration: LiveRegistration }

/** The answer to whoever left while it waited. */
export const NOBODYS: Answer = { kind: 'result', result: { data: null } }
