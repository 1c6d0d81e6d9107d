import { GraphQLError, type ExecutionResult } from 'graphql'
import { EndLiveQuery } from '../errors.ts'
import type { LiveOperation, RegistrationOf } from './engine.ts'
import { iterateLiveQuery } from '../store/live-iterator.ts'
import type { Pass } from './passes.ts'
import type { LiveQueryStore } from '../store/store.ts'
import type { LiveQueryEvent } from '../store/update.ts'

export interface LiveStart {
  readonly store: LiveQueryStore
  readonly registrationOf: RegistrationOf
  readonly live: LiveOperation
  /** How it came, unless over HTTP. */
  readonly pass: Pass | undefined
}

/**
 * Returns the answer in place of an execution; undefined when the operation is not live. Over HTTP it is the
 * updates; for a transport it is a stream that says nothing, while the pass holds the registration.
 */
export function startLiveQuery(
  start: LiveStart,
): AsyncIterable<LiveQueryEvent> | AsyncIterable<never> | ExecutionResult | undefined {
  const { store, registrationOf, live, pass } = start
  try {
    const registration = registrationOf(live)
    if (!registration) return undefined
    const request = live.context['request'] as Request | undefined
    if (!pass) return iterateLiveQuery(store, registration, request?.signal)
    pass.registration = registration
    return nothing()
  } catch (error) {
    if (error instanceof EndLiveQuery) return { errors: error.errors }
    if (error instanceof GraphQLError) return { errors: [error] }
    throw error
  }
}

async function* nothing(): AsyncGenerator<never> {}
