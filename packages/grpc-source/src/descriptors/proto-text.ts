import { readFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { create, createFileRegistry, type FileRegistry } from '@bufbuild/protobuf'
import {
  FileDescriptorSetSchema,
  type FileDescriptorProto,
  type FileDescriptorSet,
} from '@bufbuild/protobuf/wkt'
import protobuf from 'protobufjs'
import { GrpcSourceError } from '../errors.ts'
import { shippedProto, wellKnownFile } from './bundled.ts'
import { toFileDescriptor, type ParsedProto, type TypeReference } from './proto-file.ts'
import { interpretOptions } from './proto-options.ts'
import { resolveInScope } from './proto-names.ts'

export interface ProtoTextInput {
  /** Paths of `.proto` files, relative to the working directory or to an include path. */
  readonly protoFiles?: readonly string[] | undefined
  /** `.proto` text by the path under which other files import it. */
  readonly protoText?: Readonly<Record<string, string>> | undefined
  /** Folders in which imports are looked up, in order. */
  readonly includePaths?: readonly string[] | undefined
  /** Told of every file that is read. */
  readonly onFile?: ((path: string) => void) | undefined
}

/** Compiles `.proto` text, with its custom options and comments, as a protobuf compiler would. */
export async function compileProtoText(input: ProtoTextInput): Promise<FileDescriptorSet> {
  const { protoFiles = [], protoText = {}, includePaths = [], onFile = () => {} } = input
  const parsed = new Map<string, ParsedProto>()
  const wellKnown = new Map<string, FileDescriptorProto>()
  const references: TypeReference[] = []

  async function read(path: string): Promise<string | undefined> {
    const text = await readIfExists(path)
    if (text !== undefined) onFile(path)
    return text
  }

  async function load(importPath: string, readText: () => Promise<string | undefined>, importedBy?: string) {
    if (parsed.has(importPath) || wellKnown.has(importPath)) return
    const text = await readText()
    if (text === undefined) {
      const standard = wellKnownFile(importPath)
      if (standard) {
        wellKnown.set(importPath, standard.proto)
        return
      }
      throw missingFile(importPath, importedBy, includePaths)
    }
    const file = parseFile(importPath, text, references)
    parsed.set(importPath, file)
    for (const dependency of file.file.dependency) {
      await load(dependency, () => find(dependency), importPath)
    }
  }

  async function find(importPath: string): Promise<string | undefined> {
    const given = protoText[importPath]
    if (given !== undefined) return given
    for (const folder of [...includePaths, ...protoFiles.map((path) => dirname(path))]) {
      const text = await read(join(folder, importPath))
      if (text !== undefined) return text
    }
    return shippedProto(importPath)
  }

  for (const [importPath, text] of Object.entries(protoText)) {
    await load(importPath, () => Promise.resolve(text))
  }
  for (const path of protoFiles) {
    const importPath = toImportPath(path, includePaths)
    await load(importPath, async () => (await read(resolve(path))) ?? find(importPath))
  }
  resolveTypes(references, [...parsed.values()], [...wellKnown.values()])
  return withOptions([...parsed.values()], [...wellKnown.values()])
}

function parseFile(name: string, text: string, references: TypeReference[]): ParsedProto {
  try {
    const parsed = protobuf.parse(text, new protobuf.Root(), { keepCase: true, alternateCommentMode: true })
    return toFileDescriptor(
      name,
      parsed,
      /^\s*syntax\s*=\s*["'](proto[23])["']/m.exec(text)?.[1] ?? '',
      references,
    )
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new GrpcSourceError('GRPC_SOURCE_DESCRIPTORS', `${name} is not a valid .proto file: ${reason}`, {
      cause,
    })
  }
}

function resolveTypes(
  references: readonly TypeReference[],
  parsed: readonly ParsedProto[],
  wellKnown: readonly FileDescriptorProto[],
): void {
  const types = new Map<string, 'enum' | 'message'>()
  const addMessages = (scope: string, messages: FileDescriptorProto['messageType']): void => {
    for (const message of messages) {
      const name = scope === '' ? message.name : `${scope}.${message.name}`
      types.set(name, 'message')
      addMessages(name, message.nestedType)
      for (const nested of message.enumType) types.set(`${name}.${nested.name}`, 'enum')
    }
  }
  for (const file of [...wellKnown, ...parsed.map(({ file }) => file)]) {
    addMessages(file.package, file.messageType)
    for (const type of file.enumType)
      types.set(file.package === '' ? type.name : `${file.package}.${type.name}`, 'enum')
  }
  for (const { file, scope, element, name, resolve: apply } of references) {
    const fullName = resolveInScope(name, scope, (candidate) =>
      types.has(candidate) ? candidate : undefined,
    )
    if (fullName === undefined) {
      throw new GrpcSourceError(
        'GRPC_SOURCE_DESCRIPTORS',
        `${file}: ${element} uses the type "${name}", which neither this file nor its imports define; correct the name or import the file that defines it`,
      )
    }
    apply(fullName, types.get(fullName) === 'enum')
  }
}

function withOptions(
  parsed: readonly ParsedProto[],
  wellKnown: readonly FileDescriptorProto[],
): FileDescriptorSet {
  const set = create(FileDescriptorSetSchema)
  set.file = inDependencyOrder([...wellKnown, ...parsed.map(({ file }) => file)])
  let registry: FileRegistry
  try {
    registry = createFileRegistry(set)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new GrpcSourceError('GRPC_SOURCE_DESCRIPTORS', `the protos do not fit together: ${reason}`, {
      cause,
    })
  }
  for (const { file, options } of parsed) {
    for (const written of options) {
      try {
        interpretOptions(written, registry)
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause)
        throw new GrpcSourceError('GRPC_SOURCE_DESCRIPTORS', `${file.name}: ${reason}`, { cause })
      }
    }
  }
  return set
}

/** Dependencies first, as a compiler writes a descriptor set. */
export function inDependencyOrder(files: readonly FileDescriptorProto[]): FileDescriptorProto[] {
  const byName = new Map(files.map((file) => [file.name, file]))
  const ordered = new Set<FileDescriptorProto>()
  const visiting = new Set<string>()
  const visit = (file: FileDescriptorProto): void => {
    if (ordered.has(file)) return
    if (visiting.has(file.name)) {
      throw new GrpcSourceError(
        'GRPC_SOURCE_DESCRIPTORS',
        `${file.name} imports itself, by way of ${[...visiting].join(' → ')}`,
      )
    }
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

function missingFile(
  importPath: string,
  importedBy: string | undefined,
  includePaths: readonly string[],
): GrpcSourceError {
  const where = includePaths.length === 0 ? 'no includePaths are set' : `looked in ${includePaths.join(', ')}`
  const message =
    importedBy === undefined
      ? `the proto file "${importPath}" does not exist (working directory ${process.cwd()}; ${where})`
      : `${importedBy} imports "${importPath}", which was not found (${where}); add the folder that holds it to includePaths, or its text to protoText`
  return new GrpcSourceError('GRPC_SOURCE_DESCRIPTORS', message)
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
