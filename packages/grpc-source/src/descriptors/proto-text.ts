import { readFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { create, type FileRegistry } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema, type FileDescriptorProto } from '@bufbuild/protobuf/wkt'
import { GrpcSourceError } from '../errors.ts'
import { shippedProto, wellKnownFile } from './shipped/bundled.ts'
import { resolveInScope } from './proto-names.ts'
import { createDescriptorRegistry } from './registry.ts'
import type { TypeReference } from './text/context.ts'
import { interpretBuiltIn, interpretExtensions } from './text/interpret-options.ts'
import { parseFile, type ParsedProto } from './text/parse-file.ts'
import { typesOf } from './type-names.ts'

export interface ProtoTextInput {
  /** Paths of `.proto` files, relative to the working directory or to an include path. */
  readonly protoFiles?: readonly string[] | undefined
  /** `.proto` text by the path under which other files import it. */
  readonly protoText?: Readonly<Record<string, string>> | undefined
  /** Folders in which imports are looked up, in order. */
  readonly includePaths?: readonly string[] | undefined
  /** Told of every file that is read. */
  readonly onFile?: ((path: string) => void) | undefined
  /** Told of an import that was not found and that nothing but options can need. */
  readonly onMissingImport?: ((message: string) => void) | undefined
}

/** An import that was not found. */
interface MissingImport {
  readonly importPath: string
  readonly importedBy: string
}

export interface CompiledProtos {
  readonly registry: FileRegistry
  /** The files that were named, by the paths under which others import them: not what they import. */
  readonly named: ReadonlySet<string>
}

/** Compiles `.proto` text, with its comments and those custom options that a source reads. */
export async function compileProtoText(input: ProtoTextInput): Promise<CompiledProtos> {
  const { protoFiles = [], protoText = {}, includePaths = [] } = input
  const { onFile = () => {}, onMissingImport = () => {} } = input
  const parsed = new Map<string, ParsedProto>()
  const wellKnown = new Map<string, FileDescriptorProto>()
  const references: TypeReference[] = []
  const missing: MissingImport[] = []

  async function read(path: string): Promise<string | undefined> {
    const text = await readIfExists(path)
    if (text !== undefined) onFile(path)
    return text
  }

  async function load(importPath: string, readText: () => Promise<string | undefined>): Promise<boolean> {
    if (parsed.has(importPath) || wellKnown.has(importPath)) return true
    const text = await readText()
    if (text === undefined) return loadWellKnown(importPath)
    const file = parse(importPath, text, references)
    parsed.set(importPath, file)
    const found: string[] = []
    for (const dependency of file.file.dependency) {
      if (await load(dependency, () => find(dependency))) found.push(dependency)
      else missing.push({ importPath: dependency, importedBy: importPath })
    }
    file.file.dependency = found
    return true
  }

  function loadWellKnown(importPath: string): boolean {
    const standard = wellKnownFile(importPath)?.proto
    if (!standard) return false
    wellKnown.set(importPath, standard)
    for (const dependency of standard.dependency) if (!wellKnown.has(dependency)) loadWellKnown(dependency)
    return true
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
  const named = new Set(Object.keys(protoText))
  for (const path of protoFiles) {
    const importPath = toImportPath(path, includePaths)
    named.add(importPath)
    const isFound = await load(importPath, async () => (await read(resolve(path))) ?? find(importPath))
    if (!isFound) throw missingFile(importPath, includePaths)
  }
  const files = [...parsed.values()]
  const where = includePaths.length === 0 ? 'no includePaths are set' : `looked in ${includePaths.join(', ')}`
  resolveTypes(references, [...wellKnown.values(), ...files.map(({ file }) => file)], missing, where)
  for (const { importPath, importedBy } of missing) {
    onMissingImport(
      `${importedBy} imports "${importPath}", which was not found (${where}); no type needs it, but options that it defines are not read`,
    )
  }
  return { registry: withOptions(files, [...wellKnown.values()]), named }
}

function parse(name: string, text: string, references: TypeReference[]): ParsedProto {
  try {
    return parseFile(name, text, references)
  } catch (cause) {
    throw descriptorError(`${name} is not a valid .proto file: ${reasonOf(cause)}`, cause)
  }
}

function resolveTypes(
  references: readonly TypeReference[],
  files: readonly FileDescriptorProto[],
  missing: readonly MissingImport[],
  where: string,
): void {
  const types = typesOf(files)
  for (const { file, scope, element, name, resolve: apply } of references) {
    const fullName = resolveInScope(name, scope, (candidate) =>
      types.has(candidate) ? candidate : undefined,
    )
    if (fullName !== undefined) {
      apply(fullName, types.get(fullName) === 'enum')
      continue
    }
    const absent = missing.find(({ importedBy }) => importedBy === file) ?? missing[0]
    throw descriptorError(
      absent
        ? `${absent.importedBy} imports "${absent.importPath}", which was not found (${where}), and ${element} uses the type "${name}", which no other file defines; add the folder that holds it to includePaths, or its text to protoText`
        : `${file}: ${element} uses the type "${name}", which neither this file nor its imports define; correct the name or import the file that defines it`,
    )
  }
}

function withOptions(
  parsed: readonly ParsedProto[],
  wellKnown: readonly FileDescriptorProto[],
): FileRegistry {
  // A registry's own rules, such as presence, follow from built-in options; the others need a registry to be read.
  interpretEach(parsed, interpretBuiltIn)
  const files = [...wellKnown, ...parsed.map(({ file }) => file)]
  const registry = createDescriptorRegistry(create(FileDescriptorSetSchema, { file: files }))
  interpretEach(parsed, (written) => interpretExtensions(written, registry))
  return registry
}

function interpretEach(
  parsed: readonly ParsedProto[],
  interpret: (written: ParsedProto['options'][number]) => void,
): void {
  for (const { file, options } of parsed) {
    for (const written of options) {
      try {
        interpret(written)
      } catch (cause) {
        throw descriptorError(`${file.name}: ${reasonOf(cause)}`, cause)
      }
    }
  }
}

function missingFile(importPath: string, includePaths: readonly string[]): GrpcSourceError {
  const where = includePaths.length === 0 ? 'no includePaths are set' : `looked in ${includePaths.join(', ')}`
  return descriptorError(
    `the proto file "${importPath}" does not exist (working directory ${process.cwd()}; ${where})`,
  )
}

function descriptorError(message: string, cause?: unknown): GrpcSourceError {
  return new GrpcSourceError('GRPC_SOURCE_DESCRIPTORS', message, cause === undefined ? {} : { cause })
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
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
