import { createRegistry, type Registry } from '@bufbuild/protobuf'
import { compileProtoText } from './proto-text.ts'

/** The source's own types beside `google.rpc`, for reading error details. */
export async function shippedRegistry(own: Registry): Promise<Registry> {
  const { registry: shipped } = await compileProtoText({
    protoFiles: ['google/rpc/status.proto', 'google/rpc/error_details.proto'],
  })
  return createRegistry(shipped, own)
}
