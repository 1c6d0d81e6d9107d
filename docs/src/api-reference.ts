import ts from 'typescript'
import { publicPackages, type Entry } from './repository.ts'
import { cell, codeCell, hasMethods, meaningOf, objectsIn, readTypes, type Program } from './types-of.ts'

/** An exported name of a package. */
export interface Exported {
  readonly specifier: string
  readonly name: string
}

/** Returns the source files of all entries of the published packages. */
export function apiSources(): string[] {
  return publicPackages().flatMap(({ entries }) => entries.map(({ source }) => source))
}

interface ApiPage {
  /** Name of the package without its scope, such as `grpc-source`. */
  readonly name: string
  readonly markdown: string
  readonly exported: readonly Exported[]
}

/** Returns a page for each published package, with the exports of its entries, their types and their TSDoc. */
export function readApiPages(program: Program = readTypes(apiSources())): ApiPage[] {
  return publicPackages().map(({ name, description, entries }) => {
    const shown = entries.map((entry) => ({ entry, symbols: program.exportsOf(entry.source) }))
    const sections = shown.map(({ entry, symbols }) => sectionOf(entry, symbols, program))
    return {
      name: name.replace('@vinyasa/', ''),
      markdown: `# ${name}\n\n${description}. This page is generated from the types and their TSDoc.\n\n${sections.join('\n\n')}\n`,
      exported: shown.flatMap(({ entry, symbols }) =>
        symbols.map((symbol) => ({ specifier: entry.specifier, name: symbol.name })),
      ),
    }
  })
}

function sectionOf({ specifier }: Entry, symbols: readonly ts.Symbol[], program: Program): string {
  const sorted = [...symbols].sort((a, b) => rankOf(a, program) - rankOf(b, program))
  const described = [
    ...sorted.map((symbol) => describe(symbol, program)),
    // These types are not exported, but no other page describes their properties.
    ...typesBelow(symbols, program).map((symbol) => `#${describe(symbol, program)}`),
  ]
  return `## ${specifier}\n\n${described.join('\n\n')}`
}

/** Returns the interfaces of the options of exported functions, except for exported interfaces. */
function typesBelow(symbols: readonly ts.Symbol[], { checker }: Program): ts.Symbol[] {
  const seen = new Set(symbols.map((symbol) => resolved(symbol, checker)))
  const visited = new Set<ts.Type>()
  const below: ts.Symbol[] = []
  function visit(type: ts.Type): void {
    for (const [object] of objectsIn(checker.getNonNullableType(type), checker)) {
      const symbol = object.getSymbol()
      if (visited.has(object) || hasMethods(object)) continue
      visited.add(object)
      if (symbol?.declarations?.some(ts.isInterfaceDeclaration) && !seen.has(symbol)) below.push(symbol)
      for (const property of object.getProperties()) visit(checker.getTypeOfSymbol(property))
    }
  }
  for (const symbol of symbols)
    for (const signature of checker.getTypeOfSymbol(symbol).getCallSignatures())
      for (const parameter of signature.getParameters()) visit(checker.getTypeOfSymbol(parameter))
  return below
}

/** Sorts functions, classes and constants before types. */
function rankOf(symbol: ts.Symbol, { checker }: Program): number {
  return (resolved(symbol, checker).flags & ts.SymbolFlags.Value) === 0 ? 1 : 0
}

function resolved(symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol {
  return (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol)
}

function describe(exported: ts.Symbol, { checker }: Program): string {
  const symbol = resolved(exported, checker)
  const [declaration] = symbol.declarations ?? []
  const said = cell(meaningOf(symbol, checker))
  const parts = [`### ${exported.name}`, said].filter((part) => part !== '')
  if (!declaration) return parts.join('\n\n')
  const isValue = (symbol.flags & ts.SymbolFlags.Value) !== 0
  const type = isValue
    ? checker.getTypeOfSymbolAtLocation(symbol, declaration)
    : checker.getDeclaredTypeOfSymbol(symbol)
  if (ts.isClassDeclaration(declaration)) {
    const instance = checker.getDeclaredTypeOfSymbol(symbol)
    return [...parts, ...members(instance, declaration, checker)].join('\n\n')
  }
  const signatures = type.getCallSignatures()
  if (isValue && signatures.length > 0) {
    const texts = signatures.map(
      (signature) => `function ${exported.name}${checker.signatureToString(signature, declaration)}`,
    )
    return [...parts, code(texts.join('\n'))].join('\n\n')
  }
  if (ts.isInterfaceDeclaration(declaration) || (isValue && type.getProperties().length > 0))
    return [...parts, ...members(type, declaration, checker)].join('\n\n')
  const text = ts.isTypeAliasDeclaration(declaration)
    ? declaration.getText()
    : `const ${exported.name}: ${checker.typeToString(type)}`
  return [...parts, code(text.replace(/^export /, ''))].join('\n\n')
}

function members(type: ts.Type, declaration: ts.Declaration, checker: ts.TypeChecker): string[] {
  const rows = type.getProperties().flatMap((property) => {
    const own = property.declarations?.some((one) => !one.getSourceFile().fileName.includes('/node_modules/'))
    if (own !== true) return []
    const isOptional = (property.flags & ts.SymbolFlags.Optional) !== 0
    const given = checker.getTypeOfSymbolAtLocation(property, declaration)
    const shown = checker.typeToString(isOptional ? checker.getNonNullableType(given) : given)
    const name = property.name.startsWith('__@')
      ? `[Symbol.${property.name.slice(3).split('@')[0]}]`
      : property.name
    return [
      `| \`${name}${isOptional ? '?' : ''}\` | ${codeCell(shown)} | ${cell(meaningOf(property, checker))} |`,
    ]
  })
  return rows.length === 0 ? [] : ['| property | type | meaning |\n| --- | --- | --- |\n' + rows.join('\n')]
}

const code = (text: string): string => `\`\`\`ts\n${text}\n\`\`\``
