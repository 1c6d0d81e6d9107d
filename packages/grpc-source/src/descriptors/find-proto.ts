import { readFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, posix, relative, resolve } from 'node:path'
import { shippedProto } from './shipped/bundled.ts'

export interface FoundProto {
  /** The path under which others import it: one name a file, however they write it. */
  readonly name: string
  readonly text: string
  /** Its path on the disk. */
  readonly path?: string
}

export interface ProtoFinder {
  /**
   * The file that an import means: of protoc's rules those of a path below one of the folders, and what other compilers
   * read, `./` and `../` from the file that imports.
   */
  (importPath: string, importer: FoundProto): Promise<FoundProto | undefined>
  /** A file that the options name, relative to the working directory or to an include path. */
  named(path: string): Promise<FoundProto | undefined>
}

export function createProtoFinder(options: {
  readonly protoFiles: readonly string[]
  readonly protoText: Readonly<Record<string, string>>
  readonly includePaths: readonly string[]
  /** Told of every file that is read. */
  readonly onFile: (path: string) => void
}): ProtoFinder {
  const { protoFiles, protoText, includePaths, onFile } = options
  const folders = [...includePaths, ...protoFiles.map((path) => dirname(path))]
  const byPath = new Map<string, FoundProto>()

  async function read(name: string, at: string): Promise<FoundProto | undefined> {
    const path = resolve(at)
    const known = byPath.get(path)
    if (known) return known
    const text = await readIfExists(path)
    if (text === undefined) return undefined
    onFile(at)
    const proto = { name, text, path }
    byPath.set(path, proto)
    return proto
  }

  async function below(name: string): Promise<FoundProto | undefined> {
    const given = protoText[name]
    if (given !== undefined) return { name, text: given }
    for (const folder of folders) {
      const proto = await read(name, join(folder, name))
      if (proto) return proto
    }
    const shipped = shippedProto(name)
    // In whichever folder it is looked for, it is one file, and one of its name that is given stands in for it.
    return shipped && shipped.name !== name ? below(shipped.name) : shipped
  }

  async function beside(importer: FoundProto, importPath: string): Promise<FoundProto | undefined> {
    const name = posix.join(posix.dirname(importer.name), importPath)
    const { path } = importer
    return (path === undefined ? undefined : await read(name, join(dirname(path), importPath))) ?? below(name)
  }

  async function find(importPath: string, importer: FoundProto): Promise<FoundProto | undefined> {
    const name = posix.normalize(importPath)
    if (!/^\.\.?\//.test(importPath)) return below(name)
    return (await beside(importer, importPath)) ?? below(name)
  }

  return Object.assign(find, {
    async named(path: string): Promise<FoundProto | undefined> {
      const name = toImportPath(path, includePaths)
      return (await read(name, path)) ?? below(name)
    },
  })
}

function toImportPath(path: string, includePaths: readonly string[]): string {
  for (const folder of includePaths) {
    const inside = relative(resolve(folder), resolve(path))
    if (inside !== '' && !inside.startsWith('..') && !isAbsolute(inside)) return inside.replaceAll('\\', '/')
  }
  return path.replaceAll('\\', '/')
}

async function readIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'EISDIR'))
      return undefined
    throw error
  }
}
