import type { DescFile, FileRegistry } from '@bufbuild/protobuf'

/**
 * The files of a registry in the order in which they are named, and each before what it imports: a file that is named
 * behind all others changes the order of none of them.
 */
export function inNamedOrder(registry: FileRegistry, named: Iterable<string>): readonly DescFile[] {
  const ordered = new Set<DescFile>()
  function add(file: DescFile): void {
    if (ordered.has(file)) return
    ordered.add(file)
    file.dependencies.forEach(add)
  }
  for (const name of named) {
    const file = registry.getFile(name)
    if (file) add(file)
  }
  for (const file of registry.files) add(file)
  return [...ordered]
}
