import type { Plugin } from 'graphql-yoga'
import { errorsOf } from '../limits/errors.ts'
import { withBehaviour } from '../behaviour.ts'

/** Limit in characters of one message to a client. The rest is nearly always what the client sent itself. */
const MAX_CHARACTERS = 1_000
const END_CHARACTERS = 200

/** Cuts the middle out of long error messages: graphql quotes what it was given, be it a megabyte. */
export function useShortErrors(): Plugin {
  return withBehaviour({
    onExecutionResult: ({ result }) => shorten(result),
    // This hook sees what was refused before it was an operation, and what has errors on the prepared path.
    onResultProcess: ({ result }) => shorten(result),
  })
}

function shorten(result: unknown): void {
  if (Array.isArray(result)) for (const one of result) shorten(one)
  for (const error of errorsOf(result) as readonly { message?: unknown }[]) {
    const { message } = error
    if (typeof message !== 'string' || message.length <= MAX_CHARACTERS) continue
    error.message = `${message.slice(0, MAX_CHARACTERS - END_CHARACTERS - 1)}…${message.slice(-END_CHARACTERS)}`
  }
}
