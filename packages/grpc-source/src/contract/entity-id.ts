import { compileEntityId } from '@vinyasa/source-kit'
import { optionError } from '../errors.ts'

/** Reads ids as the setting says. @throws GrpcSourceError */
export function readerOfEntityId(entityId: string): ReturnType<typeof compileEntityId> {
  return compileEntityId(entityId, (problem) => optionError([], `invalidates.entityId ${problem}`))
}
