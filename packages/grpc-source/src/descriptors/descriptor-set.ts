import { readFile } from 'node:fs/promises'
import { fromBinary, type Message } from '@bufbuild/protobuf'
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { FileDescriptorSetSchema, type FileDescriptorSet } from '@bufbuild/protobuf/wkt'
import { descriptorError, reasonOf, type GrpcSourceError } from '../errors.ts'

/** Reads a FileDescriptorSet, as `buf build -o` and `protoc --descriptor_set_out` write it. */
export async function readDescriptorSet(input: string | Uint8Array): Promise<FileDescriptorSet> {
  const origin = typeof input === 'string' ? `"${input}"` : 'the given bytes'
  try {
    const bytes = typeof input === 'string' ? await readFile(input) : input
    const set = fromBinary(FileDescriptorSetSchema, bytes)
    if (set.file.length > 0) return set
  } catch (cause) {
    throw descriptorSetError(origin, reasonOf(cause), cause)
  }
  throw descriptorSetError(origin, 'the set contains no files')
}

/**
 * The field in which buf notes that a file is in the set only because another imports it:
 * `ImageFileExtension.is_import`.
 */
const IMAGE_FILE_EXTENSION = 8042
const IS_IMPORT = 1

/** The files that are in a set only for others. Known of those that buf writes; protoc does not tell. */
export function importsOf({ file }: FileDescriptorSet): ReadonlySet<string> {
  return new Set(file.filter(isMarkedImport).map(({ name }) => name))
}

function isMarkedImport({ $unknown = [] }: Message): boolean {
  const field = $unknown.find(
    ({ no, wireType }) => no === IMAGE_FILE_EXTENSION && wireType === WireType.LengthDelimited,
  )
  if (!field) return false
  try {
    const reader = new BinaryReader(new BinaryReader(field.data).bytes())
    while (reader.pos < reader.len) {
      const [no, wireType] = reader.tag()
      if (no === IS_IMPORT && wireType === WireType.Varint) return reader.bool()
      reader.skip(wireType, no)
    }
  } catch {
    // Not buf's: somebody else's extension of that number.
  }
  return false
}

function descriptorSetError(origin: string, reason: string, cause?: unknown): GrpcSourceError {
  return descriptorError(
    `descriptorSet: ${origin} cannot be read as a FileDescriptorSet (${reason}); correct descriptorSet, or create a descriptor set with "buf build -o file.binpb" or "protoc --include_imports --include_source_info --descriptor_set_out=file.binpb"`,
    cause,
    ['descriptorSet'],
  )
}
