import { parseAst } from 'rolldown/parseAst'

/** A function of a source text, from its first line to its last, the functions inside it counted too. */
export interface FunctionExtent {
  /** Its own name, or that of the variable or member that holds it; `?` where it has neither. */
  readonly name: string
  readonly lines: number
}

/** Every function, arrow function and method of a TypeScript text, the outer before the inner. */
export function functionExtents(text: string): FunctionExtent[] {
  const linesOf = (start: number, end: number): number => text.slice(start, end).split('\n').length
  function visit(node: unknown, holder: string | undefined): FunctionExtent[] {
    if (Array.isArray(node)) return node.flatMap((child) => visit(child, holder))
    if (!isNode(node)) return []
    const name = nameOf(node)
    const below = Object.values(node).flatMap((child) =>
      visit(child, HOLDERS.has(node.type) ? name : undefined),
    )
    if (!FUNCTIONS.has(node.type)) return below
    return [{ name: name ?? holder ?? '?', lines: linesOf(node.start, node.end) }, ...below]
  }
  return visit(parseAst(text, { lang: 'ts' }).body, undefined)
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])
const HOLDERS = new Set(['VariableDeclarator', 'Property', 'MethodDefinition', 'PropertyDefinition'])

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly id?: unknown
  readonly key?: unknown
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value && 'end' in value
}

function nameOf({ id, key }: Node): string | undefined {
  const named = id ?? key
  return isNode(named) && 'name' in named && typeof named.name === 'string' ? named.name : undefined
}
