import { create, type FileRegistry } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema, type FileDescriptorProto } from '@bufbuild/protobuf/wkt'
import { descriptorError, GrpcSourceError, reasonOf } from '../errors.ts'
import { inDependencyOrder } from './dependency-order.ts'
import { shippedFileOf, wellKnownFile, shippedProto } from './shipped/bundled.ts'
import { createDescriptorRegistry } from './registry.ts'
import { checkFiles, type FileFaults } from './rules/check-files.ts'
import { createTypeResolver, type Resolution } from './rules/resolve-types.ts'
import { collectSymbols, type Symbols } from './rules/symbols.ts'
import type { TypeReference } from './text/context.ts'
import { interpretBuiltIn, interpretExtensions } from './text/interpret-options.ts'
import { parseFile, type ParsedProto } from './text/parse-file.ts'
import { ProtoSyntaxError, type Token } from './text/tokens.ts'
import { readFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, posix, relative, resolve } from 'node:path'

interface FoundProto {
  /** The path under which others import it: one name a file, however they write it. */
  readonly name: string
  readonly text: string
  /** Its path on the disk. */
  readonly path?: string
}

interface ProtoFinder {
  /**
   * The file that an import means: of protoc's rules those of a path below one of the folders, and what other compilers
   * read, `./` and `../` from the file that imports.
   */
  (importPath: string, importer: FoundProto): Promise<FoundProto | undefined>
  /** A file that the options name, relative to the working directory or to an include path. */
  named(path: string): Promise<FoundProto | undefined>
}

function createProtoFinder(options: {
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

/** A file on the way to one that it imports, and where it does. */
interface Importing {
  readonly name: string
  readonly at: Token
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
  const where =
    includePaths.length === 0 ? 'includePaths is empty' : `includePaths contains ${includePaths.join(', ')}`
  const find = createProtoFinder({ protoFiles, protoText, includePaths, onFile })

  function compile(proto: FoundProto, chain: readonly Importing[] = []): Promise<void> | undefined {
    refuseCircle(proto.name, chain)
    if (parsed.has(proto.name)) return undefined
    const file = parse(proto.name, proto.text, references)
    parsed.set(proto.name, file)
    return compileImports(proto, file, chain)
  }

  async function compileImports(
    importer: FoundProto,
    { file, imports }: ParsedProto,
    chain: readonly Importing[],
  ): Promise<void> {
    const found: string[] = []
    const isPublic = new Set<string>()
    for (const [importPath, written] of imports) {
      const name = await compileImport(importPath, importer, [
        ...chain,
        { name: importer.name, at: written.at },
      ])
      if (name === undefined) missing.push({ importPath, importedBy: importer.name })
      else found.push(name)
      if (name !== undefined && written.isPublic) isPublic.add(name)
    }
    file.dependency = [...new Set(found)]
    file.publicDependency = file.dependency.flatMap((name, index) => (isPublic.has(name) ? [index] : []))
  }

  /** The name under which the import is known. */
  async function compileImport(
    importPath: string,
    importer: FoundProto,
    chain: readonly Importing[],
  ): Promise<string | undefined> {
    if (wellKnown.has(importPath)) return importPath
    const proto = await find(importPath, importer)
    if (!proto) return loadWellKnown(importPath) ? importPath : undefined
    await compile(proto, chain)
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
  for (const [index, path] of protoFiles.entries()) {
    const proto = await find.named(path)
    if (!proto)
      throw descriptorError(
        `the proto file "${path}" was not found (working directory ${process.cwd()}; ${where}); set the path of a .proto file, or add the file's folder to includePaths`,
        undefined,
        ['protoFiles', index],
      )
    named.add(proto.name)
    await compile(proto)
  }
  const files = [...parsed.values()]
  const symbols = resolveTypes(references, files, [...wellKnown.values()], missing, where)
  for (const { importPath, importedBy } of missing) {
    onLeftOut(
      `${importedBy} imports "${importPath}", which was not found (${where}); options that this file defines are ignored; to use the options, add the folder of the file to includePaths`,
    )
  }
  return { registry: withOptions(files, [...wellKnown.values()], symbols, onLeftOut), named }
}

function refuseCircle(name: string, chain: readonly Importing[]): void {
  const from = chain.findIndex((importing) => importing.name === name)
  const first = chain[from]
  if (!first) return
  const circle = [...chain.slice(from).map((importing) => importing.name), name].join(' → ')
  throw invalidFile(name, [
    new ProtoSyntaxError(
      first.at,
      `${name} imports itself (${circle}); remove this import, or move the shared definitions to a separate file`,
    ),
  ])
}

function parse(name: string, text: string, references: TypeReference[]): ParsedProto {
  try {
    return parseFile(name, text, references)
  } catch (cause) {
    throw cause instanceof ProtoSyntaxError ? invalidFile(name, [cause]) : cause
  }
}

function resolveTypes(
  references: readonly TypeReference[],
  parsed: readonly ParsedProto[],
  wellKnown: readonly FileDescriptorProto[],
  missing: readonly MissingImport[],
  where: string,
): Symbols {
  const own = new Map(parsed.map(({ file }) => [file.name, file]))
  // A file that was given stands in for the one that comes along under its name.
  const files = [...wellKnown.filter(({ name }) => !own.has(name)), ...own.values()]
  const places = new Map(parsed.flatMap((one) => [...one.places]))
  const symbols = collectSymbols(
    inDependencyOrder(files),
    (descriptor) => places.get(descriptor)?.name.start ?? 0,
  )
  const resolve = createTypeResolver(symbols, new Map(files.map((file) => [file.name, file])), shippedFileOf)
  for (const reference of references) {
    const resolution = resolve(reference)
    if (resolution && 'found' in resolution) {
      reference.resolve(resolution.found.name, resolution.found.kind === 'enum')
      continue
    }
    // What no file defines may be in one that was not found: in the one that this file imports, or that its imports do.
    const isNowhere = !resolution || ('meant' in resolution && !symbols.byName.has(reference.name))
    const ofFile = missing.find(({ importedBy }) => importedBy === reference.file)
    const absent = isNowhere ? (ofFile ?? (resolution ? undefined : missing[0])) : undefined
    if (absent) {
      const { element, name } = reference
      throw descriptorError(
        `${absent.importedBy} imports "${absent.importPath}", which was not found (${where}), and ${element} uses the type "${name}", which is not defined in any other file; add the folder of the imported file to includePaths, or the text of the imported file to protoText`,
      )
    }
    throw invalidFile(reference.file, [new ProtoSyntaxError(reference.at, whyNoType(reference, resolution))])
  }
  return symbols
}

function whyNoType(
  { element, name, file }: TypeReference,
  resolution: Exclude<Resolution, { readonly found: unknown }>,
): string {
  const uses = `${element} uses the type "${name}", which`
  if (!resolution) {
    return `${uses} is not defined in this file or its imports; correct the name, or import the file that defines the type`
  }
  if ('wrong' in resolution) return `${uses} ${resolution.wrong}`
  return `${uses} is defined in ${resolution.unseen}, but ${file} does not import that file; add import "${resolution.unseen}";`
}

function withOptions(
  parsed: readonly ParsedProto[],
  wellKnown: readonly FileDescriptorProto[],
  symbols: Symbols,
  onLeftOut: (message: string) => void,
): FileRegistry {
  // A registry's own rules, such as presence, follow from built-in options; the others need a registry to be read.
  for (const { file, options } of parsed)
    for (const written of options) attempt(file, () => interpretBuiltIn(written))
  const invalid = checkFiles(parsed, symbols)
  if (invalid.length > 0) throw invalidFiles(invalid)
  const files = [...wellKnown, ...parsed.map(({ file }) => file)]
  const registry = createDescriptorRegistry(create(FileDescriptorSetSchema, { file: files }))
  for (const { file, options } of parsed) {
    const leaveOut = (message: string): void => onLeftOut(`${file.name}: ${message}; the option is ignored`)
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

function invalidFile(file: string, faults: readonly ProtoSyntaxError[]): GrpcSourceError {
  return invalidFiles([{ file, faults }])
}

/** One error for all faults, each on a line of its own if there are several. */
function invalidFiles(files: readonly FileFaults[]): GrpcSourceError {
  const findings = files.flatMap(({ file, faults }) =>
    faults.map(({ message }) => ({ file, message: `is not a valid .proto file: ${message}` })),
  )
  const texts = files.map(({ file, faults }) => {
    const [first, ...more] = faults.map(({ message }) => message)
    if (more.length === 0) return `${file} is not a valid .proto file: ${first}`
    return `${file} is not a valid .proto file (${faults.length} errors):\n${[first, ...more].map((text) => `- ${text}`).join('\n')}`
  })
  return new GrpcSourceError('GRPC_SOURCE_DESCRIPTORS', texts.join('\n'), {
    findings,
    cause: files[0]?.faults[0],
  })
}
