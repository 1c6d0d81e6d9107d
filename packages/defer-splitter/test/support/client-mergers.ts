import { Defer20220824Handler, GraphQL17Alpha9Handler } from '@apollo/client/incremental'
import { makeResult, mergeResultPatch } from '@urql/core'
import { mergeIncrementalData } from 'apollo-client-3/utilities'
import { parse } from 'graphql'
import type { Merged } from './merge-wire.ts'

/** How a client library puts the parts together: its own code, fed with what came over the wire. */
export interface ClientMerger {
  readonly format: 'patches' | 'pending'
  merge(parts: readonly any[]): Pick<Merged, 'data' | 'errors'>
  /** What its merger does with a fragment that failed as a whole: nulls its place, the root included, or leaves it. */
  readonly failedFragment: 'null' | 'left'
  /** Whether a null that comes later replaces an object. */
  readonly takesLaterNulls: boolean
}

// Labels are looked up in the query; merging does not depend on them.
const query = parse('{ __typename }')

function mergeWith(handler: Defer20220824Handler | GraphQL17Alpha9Handler) {
  return (parts: readonly any[]) => {
    const request = (handler as any).startRequest({ query })
    let result: any = {}
    for (const part of parts) result = request.handle(result.data, structuredClone(part))
    return { data: result.data, errors: result.errors ?? [] }
  }
}

export const clientMergers: Readonly<Record<string, ClientMerger>> = {
  'Apollo Client 4, Defer20220824Handler': {
    format: 'patches',
    merge: mergeWith(new Defer20220824Handler()),
    failedFragment: 'left',
    takesLaterNulls: true,
  },
  'Apollo Client 4, GraphQL17Alpha9Handler': {
    format: 'pending',
    merge: mergeWith(new GraphQL17Alpha9Handler()),
    failedFragment: 'left',
    takesLaterNulls: true,
  },
  'Apollo Client 3': {
    format: 'patches',
    merge([first, ...rest]) {
      let { data } = structuredClone(first)
      const errors = [...(first.errors ?? [])]
      for (const part of rest) {
        data = mergeIncrementalData(data, structuredClone(part))
        for (const patch of part.incremental ?? []) errors.push(...(patch.errors ?? []))
      }
      return { data, errors }
    },
    failedFragment: 'null',
    takesLaterNulls: true,
  },
  'urql, patches': { format: 'patches', ...urql() },
  'urql, pending': { format: 'pending', ...urql() },
}

function urql(): Omit<ClientMerger, 'format'> {
  return {
    merge([first, ...rest]) {
      const operation: any = { query }
      let result = makeResult(operation, structuredClone(first), undefined)
      let pending = first.pending
      const ofCompleted: any[] = []
      for (const part of rest) {
        pending = [...(pending ?? []), ...(part.pending ?? [])]
        result = mergeResultPatch(result, structuredClone(part), undefined, pending)
        // It does not read the errors of fragments that failed.
        for (const { errors } of part.completed ?? []) ofCompleted.push(...(errors ?? []))
      }
      return { data: result.data, errors: [...(result.error?.graphQLErrors ?? []), ...ofCompleted] }
    },
    failedFragment: 'left',
    takesLaterNulls: false,
  }
}
