import { createTurns, hasLeft, ownerOf, stringifySlices, writeInSlices } from '@vinyasa/core'
import { type AnswerSize, measureJson } from '@vinyasa/core/documents'
import { type ExecutionResult, GraphQLError } from 'graphql'
import { createJsonResult, isJsonResult } from './json-result.ts'

/** What resolvers have made of this size and more is written as JSON in several turns of the event loop. */
const LONG_BYTES = 512 * 1024
const turns = createTurns()

/** Gives up an answer whose client has left. */
export function giveUpIfLeft(size: AnswerSize, context: unknown): void {
  if (!hasLeft(context)) return
  size.giveUp(
    new GraphQLError('The client has disconnected.', { extensions: { code: 'CLIENT_CLOSED_REQUEST' } }),
  )
}

/** Returns what an interpreter gave, or what is answered in its place where that is too large. */
export function boundAnswer(size: AnswerSize, executed: unknown): unknown {
  if (typeof executed !== 'object' || executed === null || Symbol.asyncIterator in executed) return executed
  size.done()
  if (!size.refusal && !isJsonResult(executed)) {
    const { data } = executed as ExecutionResult
    try {
      size.add(0, measureJson(data, size.maxBytes))
    } catch {
      // It is in the refusal.
    }
  }
  return size.refusal ? { errors: [size.refusal] } : executed
}

/** Writes a long result as JSON, a slice in each turn of the client. Errors and extensions are for others to write. */
async function writeLong(size: AnswerSize, { data }: ExecutionResult, context: unknown): Promise<unknown> {
  const ofClient = { next: () => turns.next(ownerOf(context)) }
  const hold = (characters: number): void => size.hold(0, characters)
  try {
    const pieces = stringifySlices(data) ?? []
    return createJsonResult(await writeInSlices(pieces, ofClient, '{"data":', '}', hold))
  } catch (error) {
    if (!size.refusal) throw error
    return { errors: [size.refusal] }
  } finally {
    size.done()
  }
}

/** The same, now or later. */
export function boundLater(size: AnswerSize, executed: unknown, context: unknown): unknown {
  if (!(executed instanceof Promise)) return boundAnswer(size, executed)
  return executed.then(
    (result) => {
      const isLong = size.heldBytes >= LONG_BYTES && !size.refusal && isDataOnly(result)
      return isLong ? writeLong(size, result, context) : boundAnswer(size, result)
    },
    (error) => {
      size.done()
      throw error
    },
  )
}

function isDataOnly(result: unknown): result is ExecutionResult {
  if (typeof result !== 'object' || result === null || isJsonResult(result)) return false
  const { data, errors, extensions } = result as ExecutionResult
  return data !== null && data !== undefined && !errors && !extensions
}
