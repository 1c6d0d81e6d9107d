import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sourceFilesUnder } from '@vinyasa/test-kit'
import { parseAst } from 'rolldown/parseAst'

const root = fileURLToPath(new URL('../../..', import.meta.url))

interface Node {
  readonly type: string
  readonly name?: string
  readonly regex?: { readonly pattern: string; readonly flags: string }
  readonly [property: string]: unknown
}

export interface ScannedSource {
  /** From the root of the repository, without `.ts`. */
  readonly file: string
  readonly expressions: readonly RegExp[]
  /** The exported functions and classes that take text, of a file that searches, cuts, decodes or parses text. */
  readonly textFunctions: readonly string[]
}

/** Names of functions and methods that go through a text. */
const READS_TEXT = new Set(
  `split indexOf lastIndexOf search match matchAll exec test replace replaceAll charCodeAt codePointAt normalize trim
  parse stringify decodeURIComponent encodeURIComponent BigInt URL URLSearchParams TextDecoder Lexer`.split(
    /\s+/,
  ),
)
/** Types of parameters that are text, or hold text. */
const TEXT_TYPES = new Set(
  'Buffer Uint8Array Headers Request IncomingMessage IncomingHttpHeaders DocumentNode GraphQLParams'.split(
    ' ',
  ),
)

/** Reads the sources of all packages and apps. */
export function scanSources(): ScannedSource[] {
  return ['packages', 'apps']
    .flatMap((folder) => sourceFilesUnder(root, folder))
    .map((path) => scanText(path.replace(/\.ts$/, ''), readFileSync(join(root, path), 'utf8')))
}

export function scanText(file: string, source: string): ScannedSource {
  const { body } = parseAst(source, { lang: 'ts' })
  const nodes = [...nodesIn(body)]
  const expressions = nodes.flatMap(({ regex }) => (regex ? [new RegExp(regex.pattern, regex.flags)] : []))
  const readsText = nodes.some(
    ({ type, callee, property }) =>
      (['CallExpression', 'NewExpression'].includes(type) && isReader(callee)) ||
      (type === 'MemberExpression' && isReader(property)),
  )
  return { file, expressions, textFunctions: readsText ? body.flatMap(takersOfText) : [] }
}

const isReader = (node: unknown): boolean => isNode(node) && READS_TEXT.has(node.name ?? '')

/** The names of an exported declaration that has parameters of text. */
function takersOfText(statement: unknown): readonly string[] {
  if (!isNode(statement) || statement.type !== 'ExportNamedDeclaration') return []
  const { declaration } = statement
  if (!isNode(declaration)) return []
  if (declaration.type === 'FunctionDeclaration') return takesText(declaration) ? [nameOf(declaration)] : []
  if (declaration.type === 'ClassDeclaration')
    return [...nodesIn(declaration['body'])].some(takesText) ? [nameOf(declaration)] : []
  if (declaration.type !== 'VariableDeclaration') return []
  return [...nodesIn(declaration['declarations'])]
    .filter(({ type, init }) => type === 'VariableDeclarator' && isNode(init) && takesText(init))
    .map(nameOf)
}

function takesText(node: Node): boolean {
  return [...nodesIn(node['params'])].some(
    ({ type, name, typeName }) =>
      type === 'TSStringKeyword' ||
      type === 'TSUnknownKeyword' ||
      TEXT_TYPES.has(name ?? (isNode(typeName) ? (typeName.name ?? '') : '')),
  )
}

const nameOf = ({ id }: Node): string => (isNode(id) ? (id.name ?? '') : '')

function* nodesIn(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const item of value) yield* nodesIn(item)
  else if (isNode(value)) {
    yield value
    for (const child of Object.values(value)) yield* nodesIn(child)
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value
}
