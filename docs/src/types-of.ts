import { join } from 'node:path'
import ts from 'typescript'
import { root } from './repository.ts'

export interface Program {
  readonly checker: ts.TypeChecker
  /** Returns the exports of a source file. */
  exportsOf(source: string): ts.Symbol[]
}

/** Reads the types of source files. `at` is the root of the repository, or of another checkout. */
export function readTypes(sources: readonly string[], at: string = root): Program {
  const program = ts.createProgram(
    sources.map((source) => join(at, source)),
    {
      target: ts.ScriptTarget.ES2022,
      lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      customConditions: ['@vinyasa/source'],
      allowImportingTsExtensions: true,
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: [],
    },
  )
  const checker = program.getTypeChecker()
  return {
    checker,
    exportsOf(source) {
      const file = program.getSourceFile(join(at, source))
      const symbol = file && checker.getSymbolAtLocation(file)
      if (!symbol) throw new Error(`${source} exports nothing`)
      return checker.getExportsOfModule(symbol)
    },
  }
}

/** Returns the object types in a type, including values of maps and items of lists, each with its path in the value. */
export function objectsIn(type: ts.Type, checker: ts.TypeChecker): [ts.Type, string][] {
  const seen = new Set<ts.Type>()
  function look(one: ts.Type, suffix: string): [ts.Type, string][] {
    if (one.isUnion()) return one.types.flatMap((member) => look(member, suffix))
    if (isOpaque(one, checker) || seen.has(one)) return []
    seen.add(one)
    const item = checker.isArrayLikeType(one) && checker.getIndexTypeOfType(one, ts.IndexKind.Number)
    if (item) return look(item, `${suffix}[]`)
    const value = checker.getIndexTypeOfType(one, ts.IndexKind.String)
    if (value) return look(value, `${suffix}.*`)
    return one.getProperties().length > 0 ? [[one, suffix]] : []
  }
  return look(type, '')
}

/** Whether a type has no settings: primitives, functions, classes, and types of libraries. */
export function isOpaque(type: ts.Type, checker: ts.TypeChecker): boolean {
  if ((type.flags & ts.TypeFlags.Object) === 0) return true
  if (checker.isArrayLikeType(type)) return false
  if (type.getCallSignatures().length > 0 || type.getConstructSignatures().length > 0) return true
  const declarations = type.getSymbol()?.declarations ?? []
  const isMapped = ((type as ts.ObjectType).objectFlags & ts.ObjectFlags.Mapped) !== 0
  return (
    declarations.some((declaration) => declaration.getSourceFile().fileName.includes('node_modules/')) &&
    !checker.getIndexTypeOfType(type, ts.IndexKind.String) &&
    !isMapped
  )
}

/** Whether a type has methods. Such objects are not options. */
export function hasMethods(type: ts.Type): boolean {
  return type.getProperties().some(({ flags }) => (flags & ts.SymbolFlags.Method) !== 0)
}

/** Returns the TSDoc of a symbol as one paragraph of markdown. */
export function meaningOf(symbol: ts.Symbol, checker: ts.TypeChecker): string {
  const text = ts.displayPartsToString(symbol.getDocumentationComment(checker))
  const throws = symbol
    .getJsDocTags(checker)
    .filter(({ name }) => name === 'throws')
    .map(({ text: parts }) => `Throws ${ts.displayPartsToString(parts)}`)
  return [text, ...throws]
    .join(' ')
    .replace(/\{@link (\w+)[^}]*\}/g, '`$1`')
    .replace(/\s*\n\s*/g, ' ')
    .replace(/(?<=\d)_(?=\d{3})/g, ',')
    .trim()
}

/** Escapes text for a table cell, and for Vue, which interprets `<` and braces outside of code. */
export function cell(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(/</g, '&lt;').replace(/\{\{/g, '&#123;{')))
    .join('')
    .replace(/\|/g, '\\|')
}

/** Returns code for a table cell. */
export function codeCell(text: string): string {
  return `\`${text.replace(/\s+/g, ' ').replace(/\|/g, '\\|')}\``
}
