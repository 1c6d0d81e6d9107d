import { keyed } from '@vinyasa/core'
import type { FileDescriptorProto } from '@bufbuild/protobuf/wkt'
import { outwards } from '../proto-names.ts'
import { inScope, type TypeReference } from '../text/context.ts'
import { isType, type ProtoSymbol, type Symbols } from './symbols.ts'

/** Says why a name means no type that the file sees; undefined where nothing has the name. */
export type Resolution =
  | { readonly found: ProtoSymbol }
  | { readonly wrong: string }
  | Undefined
  /** The file that defines it, which would be seen if it were imported. */
  | { readonly unseen: string }
  | undefined

/** A name whose first part means something, in which there is nothing of that name. */
interface Undefined {
  readonly wrong: string
  readonly meant: string
}

/**
 * Finds what names of types mean, as protoc does.
 * @param shippedFileOf tells which file would define a type, if it were imported
 */
export function createTypeResolver(
  symbols: Symbols,
  files: ReadonlyMap<string, FileDescriptorProto>,
  shippedFileOf: (fullName: string) => string | undefined,
): (reference: TypeReference) => Resolution {
  const visibleFrom = keyed((file: string): ReadonlySet<string> => {
    const seen = new Set([file])
    const add = (name: string): void => {
      if (seen.has(name)) return
      seen.add(name)
      const imported = files.get(name)
      for (const index of imported?.publicDependency ?? []) add(imported?.dependency[index] ?? name)
    }
    for (const name of files.get(file)?.dependency ?? []) add(name)
    return seen
  })

  return (reference) => {
    const visible = visibleFrom(reference.file)
    const resolution = resolve(reference, symbols, (file) => visible.has(file))
    if (resolution && 'found' in resolution) return checkKind(reference, resolution.found)
    const anywhere = resolve(reference, symbols, () => true)
    const unseen =
      anywhere && 'found' in anywhere
        ? anywhere.found.file.name
        : shippedFileOf(resolution?.meant ?? reference.name.replace(/^\./, ''))
    return unseen === undefined ? (resolution ?? anywhere) : { unseen }
  }
}

function resolve(
  { name, scope }: TypeReference,
  { byName, packages, duplicates }: Symbols,
  isVisible: (file: string) => boolean,
): { readonly found: ProtoSymbol } | Undefined | undefined {
  const look = (fullName: string): ProtoSymbol | undefined => {
    const symbol = byName.get(fullName)
    if (!symbol || isVisible(symbol.file.name)) return symbol
    // Of two files that define a name, this one may see the second; that there are two is a fault of its own.
    return duplicates.find((one) => one.symbol.name === fullName && isVisible(one.symbol.file.name))?.symbol
  }
  const isScope = (fullName: string): boolean => {
    const kind = look(fullName)?.kind
    if (kind === 'message' || kind === 'enum' || kind === 'service') return true
    return [...(packages.get(fullName) ?? [])].some(isVisible)
  }
  if (name.startsWith('.')) {
    const found = look(name.slice(1))
    return found && { found }
  }
  const [first = name] = name.split('.')
  let other: ProtoSymbol | undefined
  for (const outer of outwards(scope)) {
    const candidate = inScope(outer, first)
    if (first === name) {
      const found = look(candidate)
      if (found && isType(found)) return { found }
      other ??= found
    } else if (isScope(candidate)) {
      // The innermost scope that knows the first part decides, whether or not it knows the rest.
      const meant = inScope(outer, name)
      const found = look(meant)
      if (found) return { found }
      return {
        meant,
        wrong:
          meant === name
            ? 'is not defined in this file or its imports; correct the name, or import the file that defines the type'
            : `resolves to ${meant}, because ${candidate} is the nearest scope named "${first}", but ${meant} is not defined; correct the name, or write ".${name}" to start the lookup at the outermost scope`,
      }
    }
  }
  return other && { found: other }
}

function checkKind({ wants }: TypeReference, found: ProtoSymbol): Resolution {
  if (wants === 'type' ? isType(found) : found.kind === 'message') return { found }
  const article = /^[ae]/.test(found.kind) ? 'an' : 'a'
  const wanted = wants === 'type' ? 'a message or an enum' : 'a message'
  return { wrong: `is ${article} ${found.kind} (${found.name}), not a ${wants}; use ${wanted}` }
}
