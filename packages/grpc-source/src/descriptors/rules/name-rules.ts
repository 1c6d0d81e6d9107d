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
      yield {
        symbol,
        message: `${symbol.name} is also the name of a package in ${file}; rename the ${kindOf(symbol)} or the package`,
      }
  }
}

function kindOf({ kind }: ProtoSymbol): string {
  return kind === 'value' ? 'enum value' : kind
}

function twice(symbol: ProtoSymbol, first: ProtoSymbol): string {
  const { name, kind, file } = symbol
  if (first.file !== file) {
    return `${name} is also defined in ${first.file.name}; rename one of the definitions, or, if both files are the same, import the file by the same path everywhere`
  }
  const what = first.kind === kind ? '' : `, as ${kindOf(first)} and as ${kindOf(symbol)}`
  const why =
    kind === 'value' || first.kind === 'value'
      ? '; enum values must have unique names in the package or message that contains the enum, so use a prefix such as the name of the enum'
      : '; rename one of the definitions'
  return `${name} is defined twice${what}${why}`
}
