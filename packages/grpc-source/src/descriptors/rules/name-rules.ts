import type { ProtoSymbol, Symbols } from './symbols.ts'

/** Says which symbols have a name that another has, and what is to be done. */
export function* nameFaults({
  byName,
  packages,
  duplicates,
}: Symbols): Generator<{ readonly symbol: ProtoSymbol; readonly message: string }> {
  for (const { symbol, first } of duplicates) yield { symbol, message: twice(symbol, first) }
  for (const symbol of byName.values()) {
    const [file] = packages.get(symbol.name) ?? []
    if (file !== undefined)
      yield { symbol, message: `${symbol.name} is also the name of a package in ${file}; rename one of them` }
  }
}

function twice({ name, kind, file }: ProtoSymbol, first: ProtoSymbol): string {
  if (first.file !== file) {
    return `${name} is also defined in ${first.file.name}; rename one of them, or import the file by the same path everywhere`
  }
  const what = first.kind === kind ? '' : `, as ${first.kind} and as ${kind}`
  const why =
    kind === 'value' || first.kind === 'value'
      ? '; enum values share the scope of their enum, so prefix them with the name of the enum'
      : '; rename one of them'
  return `${name} is defined twice${what}${why}`
}
