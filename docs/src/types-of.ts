import { join } from 'node:path'
import ts from 'typescript'
import { root } from './repository.ts'

export interface Program {
  readonly checker: ts.TypeChecker
  /** What a source file exports, by name. */
  exportsOf(source: string): ts.Symbol[]
}

/** The types of some sources, which stand in the repository. */
export function readTypes(sources: readonly string[]): Program {
  const program = ts.createProgram(
    sources.map((source) => join(root, source)),
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
      const file = program.getSourceFile(join(root, source))
      const symbol = file && checker.getSymbolAtLocation(file)
      if (!symbol) throw new Error(`${source} exports nothing`)
      return checker.getExportsOfModule(symbol)
    },
  }
}

/** What its TSDoc says, as markdown of one paragraph. */
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

/** For a cell of a table, and for Vue, which reads `<` and braces as its own outside code. */
export function cell(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(/</g, '&lt;').replace(/\{\{/g, '&#123;{')))
    .join('')
    .replace(/\|/g, '\\|')
}

/** Code in a cell. */
export function codeCell(text: string): string {
  return `\`${text.replace(/\s+/g, ' ').replace(/\|/g, '\\|')}\``
}
