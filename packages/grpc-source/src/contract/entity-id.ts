import { compileEntityId } from '@vinyasa/source-kit'
import { GrpcSourceError } from '../errors.ts'

/** Reads ids as the setting says. @throws GrpcSourceError */
export function readerOfEntityId(entityId: string): ReturnType<typeof compileEntityId> {
  return compileEntityId(
    entityId,
    (problem) => new GrpcSourceError('GRPC_SOURCE_OPTIONS', `invalidates.entityId ${problem}`),
  )
}
