import type { DescriptorProto, EnumDescriptorProto, FileDescriptorProto } from '@bufbuild/protobuf/wkt'
import { inScope } from '../text/context.ts'

export interface ProtoSymbol {
  readonly name: string
  readonly kind: 'message' | 'enum' | 'value' | 'field' | 'extension' | 'oneof' | 'service' | 'method'
  /** The descriptor, by which its place is known. */
  readonly descriptor: object
  readonly file: FileDescriptorProto
}

/** Everything that files name, by full names. */
export interface Symbols {
  readonly byName: ReadonlyMap<string, ProtoSymbol>
  /** The files of each package, and of the packages that begin like it. */
  readonly packages: ReadonlyMap<string, ReadonlySet<string>>
  /** Those whose name another has. */
  readonly duplicates: readonly { readonly symbol: ProtoSymbol; readonly first: ProtoSymbol }[]
}

/** @param placeOf where a descriptor stands in its file: whichever comes first has the name */
export function collectSymbols(
  files: readonly FileDescriptorProto[],
  placeOf: (descriptor: object) => number,
): Symbols {
  const byName = new Map<string, ProtoSymbol>()
  const packages = new Map<string, Set<string>>()
  const duplicates: { symbol: ProtoSymbol; first: ProtoSymbol }[] = []
  for (const file of files) {
    for (const name of prefixesOf(file.package)) {
      const inPackage = packages.get(name) ?? new Set()
      packages.set(name, inPackage.add(file.name))
    }
    const symbols = [...symbolsOf(file)].toSorted(
      (one, other) => placeOf(one.descriptor) - placeOf(other.descriptor),
    )
    for (const symbol of symbols) {
      const first = byName.get(symbol.name)
      if (first) duplicates.push({ symbol, first })
      else byName.set(symbol.name, symbol)
    }
  }
  return { byName, packages, duplicates }
}

/** `a.b.c` → `a`, `a.b`, `a.b.c`. */
function prefixesOf(packageName: string): readonly string[] {
  if (packageName === '') return []
  const parts = packageName.split('.')
  return parts.map((_part, index) => parts.slice(0, index + 1).join('.'))
}

export function isType({ kind }: ProtoSymbol): boolean {
  return kind === 'message' || kind === 'enum'
}

export function* symbolsOf(file: FileDescriptorProto): Generator<ProtoSymbol> {
  for (const extension of file.extension)
    yield { name: inScope(file.package, extension.name), kind: 'extension', descriptor: extension, file }
  for (const message of file.messageType) yield* symbolsOfMessage(file, message, file.package)
  for (const type of file.enumType) yield* symbolsOfEnum(file, type, file.package)
  for (const service of file.service) {
    const name = inScope(file.package, service.name)
    yield { name, kind: 'service', descriptor: service, file }
    for (const method of service.method)
      yield { name: `${name}.${method.name}`, kind: 'method', descriptor: method, file }
  }
}

function* symbolsOfMessage(
  file: FileDescriptorProto,
  message: DescriptorProto,
  scope: string,
): Generator<ProtoSymbol> {
  const name = inScope(scope, message.name)
  yield { name, kind: 'message', descriptor: message, file }
  // An entry's names are nobody's but the map's.
  if (message.options?.mapEntry === true) return
  for (const field of message.field)
    yield { name: `${name}.${field.name}`, kind: 'field', descriptor: field, file }
  for (const extension of message.extension)
    yield { name: `${name}.${extension.name}`, kind: 'extension', descriptor: extension, file }
  const synthetic = new Set(
    message.field.flatMap((field) => (field.proto3Optional ? [field.oneofIndex] : [])),
  )
  for (const [index, oneof] of message.oneofDecl.entries()) {
    if (!synthetic.has(index)) yield { name: `${name}.${oneof.name}`, kind: 'oneof', descriptor: oneof, file }
  }
  for (const nested of message.nestedType) yield* symbolsOfMessage(file, nested, name)
  for (const type of message.enumType) yield* symbolsOfEnum(file, type, name)
}

function* symbolsOfEnum(
  file: FileDescriptorProto,
  type: EnumDescriptorProto,
  scope: string,
): Generator<ProtoSymbol> {
  yield { name: inScope(scope, type.name), kind: 'enum', descriptor: type, file }
  // C++ has them there, so all of protobuf has.
  for (const value of type.value)
    yield { name: inScope(scope, value.name), kind: 'value', descriptor: value, file }
}
