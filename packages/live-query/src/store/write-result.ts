import {
  type JsonText,
  type MaybePromise,
  publicExtensions,
  stringifySlices,
  type Turns,
  writeInSlices,
} from '@vinyasa/base'
import type { ExecutionResult } from 'graphql'
import { formatError } from './version.ts'

/** A result that somebody may have written as JSON before. */
interface Written extends ExecutionResult {
  readonly stringify?: (result: ExecutionResult) => JsonText
}

/** A result as JSON; a long one in several turns of the event loop, between which `goOn` may throw. */
export function writeResult(
  result: ExecutionResult,
  slices: Turns,
  goOn?: () => void,
): MaybePromise<JsonText> {
  const { stringify } = result as Written
  // What is JSON already is one, as long as nobody looks at `data`. Errors and extensions have parts that are not for clients.
  if (stringify && !result.errors && !result.extensions?.['http']) return stringify.call(result, result)
  const { stringify: _, ...whole } = result as Written
  const shown = { errors: whole.errors?.map(formatError), extensions: publicExtensions(whole.extensions) }
  const pieces = stringifySlices({ ...whole, ...shown }) ?? []
  return writeInSlices(pieces, slices, '', '', goOn)
}
