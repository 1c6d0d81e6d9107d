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
      yield { symbol, message: `${symbol.name} is a package of ${file} too; rename one of them` }
  }
}

function twice({ name, kind, file }: ProtoSymbol, first: ProtoSymbol): string {
  if (first.file !== file) {
    return `${name} is defined in ${first.file.name} too; rename one of them, or import one file by one path`
  }
  const what = first.kind === kind ? '' : `, as ${first.kind} and as ${kind}`
  const why =
    kind === 'value' || first.kind === 'value'
      ? "; an enum's values are named beside it, not inside of it, so begin them with its name"
      : '; rename one of them'
  return `${name} is defined twice${what}${why}`
}
