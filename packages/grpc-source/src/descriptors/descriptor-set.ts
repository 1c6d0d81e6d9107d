import { readFile } from 'node:fs/promises'
import { fromBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema, type FileDescriptorSet } from '@bufbuild/protobuf/wkt'
import { GrpcSourceError } from '../errors.ts'

/** Reads a FileDescriptorSet, as `buf build -o` and `protoc --descriptor_set_out` write it. */
export async function readDescriptorSet(input: string | Uint8Array): Promise<FileDescriptorSet> {
  const origin = typeof input === 'string' ? `"${input}"` : 'the given bytes'
  try {
    const bytes = typeof input === 'string' ? await readFile(input) : input
    const set = fromBinary(FileDescriptorSetSchema, bytes)
    if (set.file.length > 0) return set
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw descriptorSetError(origin, reason, cause)
  }
  throw descriptorSetError(origin, 'it holds no files')
}

function descriptorSetError(origin: string, reason: string, cause?: unknown): GrpcSourceError {
  return new GrpcSourceError(
    'GRPC_SOURCE_DESCRIPTORS',
    `descriptorSet: ${origin} is not a FileDescriptorSet: ${reason}; write one with "buf build -o file.binpb" or "protoc --include_imports --include_source_info --descriptor_set_out=file.binpb"`,
    { cause },
  )
}
