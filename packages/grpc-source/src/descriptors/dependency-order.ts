import type { FileDescriptorProto } from '@bufbuild/protobuf/wkt'
import { descriptorError } from '../errors.ts'

/** Dependencies first, as a compiler writes a descriptor set. */
export function inDependencyOrder(files: readonly FileDescriptorProto[]): FileDescriptorProto[] {
  const byName = new Map(files.map((file) => [file.name, file]))
  const ordered = new Set<FileDescriptorProto>()
  const visiting = new Set<string>()
  const visit = (file: FileDescriptorProto): void => {
    if (ordered.has(file)) return
    if (visiting.has(file.name))
      throw descriptorError(`${file.name} imports itself (${[...visiting].join(' → ')})`)
    visiting.add(file.name)
    for (const name of file.dependency) {
      const dependency = byName.get(name)
      if (dependency) visit(dependency)
    }
    visiting.delete(file.name)
    ordered.add(file)
  }
  for (const file of files) visit(file)
  return [...ordered]
}
