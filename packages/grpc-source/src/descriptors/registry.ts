import { create, createFileRegistry, type FileRegistry } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema, type FileDescriptorSet } from '@bufbuild/protobuf/wkt'
import { descriptorError, reasonOf } from '../errors.ts'
import { wellKnownFile } from './shipped/bundled.ts'
import { inDependencyOrder } from './dependency-order.ts'
import { normalizeDescriptors } from './normalize.ts'

/** The one model that every descriptor input ends in. */
export function createDescriptorRegistry(set: FileDescriptorSet): FileRegistry {
  const known = new Set(set.file.map(({ name }) => name))
  const files = [...set.file]
  for (const file of files) {
    for (const dependency of file.dependency) {
      if (known.has(dependency)) continue
      const standard = wellKnownFile(dependency)
      if (!standard)
        throw descriptorError(
          `${file.name} imports "${dependency}", which the descriptors do not contain; generate the descriptors with imports (protoc --include_imports; buf includes imports by default)`,
        )
      known.add(dependency)
      files.push(standard.proto)
    }
  }
  normalizeDescriptors(files)
  try {
    return createFileRegistry(create(FileDescriptorSetSchema, { file: inDependencyOrder(files) }))
  } catch (cause) {
    throw descriptorError(
      `the descriptors are invalid: ${reasonOf(cause)}; compile the .proto files with protoc or buf, and fix the errors that the compiler reports`,
      cause,
    )
  }
}
