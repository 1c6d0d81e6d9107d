import { createAttachment } from '@vinyasa/base'
import { restError } from '../errors.ts'

/** Counts a call for the operation it belongs to; throws when it is one too many. */
export type OperationLimit = (operation: object | undefined) => void

export function createOperationLimit(connector: string, max: number): OperationLimit {
  const calls = createAttachment<number>()
  return (operation) => {
    if (max === 0 || !operation) return
    const count = (calls.get(operation) ?? 0) + 1
    calls.set(operation, count)
    if (count > max)
      throw restError(
        'REST_TOO_MANY_REQUESTS_IN_OPERATION',
        `This operation exceeds the limit of ${max} calls to one upstream. Request less data.`,
        { connector },
      )
  }
}
