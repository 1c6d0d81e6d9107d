import { create, type FileRegistry } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema, type FileDescriptorProto } from '@bufbuild/protobuf/wkt'
import { GrpcSourceError } from '../errors.ts'
import { createProtoFinder, type FoundProto } from './find-proto.ts'
import { wellKnownFile } from './shipped/bundled.ts'
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
  /** Told of what is left out: imports that nothing but options can need, and other tools' options that cannot be read. */
  readonly onLeftOut?: ((message: string) => void) | undefined
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
  const { onFile = () => {}, onLeftOut = () => {} } = input
  const parsed = new Map<string, ParsedProto>()
  const wellKnown = new Map<string, FileDescriptorProto>()
  const references: TypeReference[] = []
  const missing: MissingImport[] = []
  const find = createProtoFinder({ protoFiles, protoText, includePaths, onFile })

  function compile(proto: FoundProto): Promise<void> | undefined {
    if (parsed.has(proto.name)) return undefined
    const file = parse(proto.name, proto.text, references)
    parsed.set(proto.name, file)
    return compileImports(proto, file.file)
  }

  async function compileImports(importer: FoundProto, file: FileDescriptorProto): Promise<void> {
    const found: string[] = []
    for (const importPath of file.dependency) {
      const name = await compileImport(importPath, importer)
      if (name === undefined) missing.push({ importPath, importedBy: importer.name })
      else found.push(name)
    }
    file.dependency = [...new Set(found)]
  }

  /** The name under which the import is known. */
  async function compileImport(importPath: string, importer: FoundProto): Promise<string | undefined> {
    if (wellKnown.has(importPath)) return importPath
    const proto = await find(importPath, importer)
    if (!proto) return loadWellKnown(importPath) ? importPath : undefined
    await compile(proto)
    return proto.name
  }

  function loadWellKnown(importPath: string): boolean {
    const standard = wellKnownFile(importPath)?.proto
    if (!standard) return false
    wellKnown.set(importPath, standard)
    for (const dependency of standard.dependency) if (!wellKnown.has(dependency)) loadWellKnown(dependency)
    return true
  }

  const named = new Set(Object.keys(protoText))
  for (const [name, text] of Object.entries(protoText)) await compile({ name, text })
  for (const path of protoFiles) {
    const proto = await find.named(path)
    if (!proto) throw missingFile(path, includePaths)
    named.add(proto.name)
    await compile(proto)
  }
  const files = [...parsed.values()]
  const where = includePaths.length === 0 ? 'no includePaths are set' : `looked in ${includePaths.join(', ')}`
  resolveTypes(references, [...wellKnown.values(), ...files.map(({ file }) => file)], missing, where)
  for (const { importPath, importedBy } of missing) {
    onLeftOut(
      `${importedBy} imports "${importPath}", which was not found (${where}); no type needs it, but options that it defines are not read`,
    )
  }
  return { registry: withOptions(files, [...wellKnown.values()], onLeftOut), named }
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
  onLeftOut: (message: string) => void,
): FileRegistry {
  // A registry's own rules, such as presence, follow from built-in options; the others need a registry to be read.
  for (const { file, options } of parsed)
    for (const written of options) attempt(file, () => interpretBuiltIn(written))
  const files = [...wellKnown, ...parsed.map(({ file }) => file)]
  const registry = createDescriptorRegistry(create(FileDescriptorSetSchema, { file: files }))
  for (const { file, options } of parsed) {
    const leaveOut = (message: string): void => onLeftOut(`${file.name}: ${message}; it is not read`)
    for (const written of options) attempt(file, () => interpretExtensions(written, registry, leaveOut))
  }
  return registry
}

function attempt(file: FileDescriptorProto, interpret: () => void): void {
  try {
    interpret()
  } catch (cause) {
    throw descriptorError(`${file.name}: ${reasonOf(cause)}`, cause)
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
