import { withBehaviour } from '@vinyasa/core/pipeline'
import type { Plugin } from 'graphql-yoga'
import { errorsOf } from '../limits/errors.ts'

/** Limit in characters of one message to a client. The rest is nearly always what the client sent itself. */
const MAX_CHARACTERS = 1_000
const END_CHARACTERS = 200

/**
 * Cuts the middle out of long error messages: graphql quotes the client's input, which can be a megabyte. If the schema is
 * hidden, it also removes graphql's suggestions, which contain names of the schema.
 */
export function useErrorMessages({ hideSuggestions }: { readonly hideSuggestions: boolean }): Plugin {
  function revise(result: unknown): void {
    if (Array.isArray(result)) for (const one of result) revise(one)
    for (const error of errorsOf(result) as readonly { message?: unknown; path?: unknown }[]) {
      const { message, path } = error
      if (typeof message !== 'string') continue
      // An error with a path comes from a resolver, not from graphql.
      const revised = shorten(hideSuggestions && path === undefined ? withoutSuggestion(message) : message)
      if (revised !== message) error.message = revised
    }
  }
  return withBehaviour({
    onExecutionResult: ({ result }) => revise(result),
    // This hook also receives results of refused requests, and results with errors of cached documents.
    onResultProcess: ({ result }) => revise(result),
  })
}

/** graphql's suggestion is the end of the message: ` Did you mean "a" or "b"?` */
function withoutSuggestion(message: string): string {
  const at = message.endsWith('?') ? message.lastIndexOf(' Did you mean ') : -1
  return at < 0 ? message : message.slice(0, at)
}

function shorten(message: string): string {
  if (message.length <= MAX_CHARACTERS) return message
  return `${message.slice(0, MAX_CHARACTERS - END_CHARACTERS - 1)}…${message.slice(-END_CHARACTERS)}`
}
