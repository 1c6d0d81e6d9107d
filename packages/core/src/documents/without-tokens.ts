import { type ASTNode, type DocumentNode, Lexer, Location, type Source, type Token, TokenKind } from 'graphql'
import { isList, memberOf, membersOf } from './members.ts'

/**
 * Removes the tokens of a parsed document, which take about an eighth of its memory. Locations remain `Location`
 * objects. Reading the tokens of a location parses the text again. Frozen documents and documents without locations
 * are not changed.
 *
 * @returns the number of nodes in the document
 */
export function withoutTokens(document: DocumentNode): number {
  const { loc } = document
  if (loc instanceof DocumentLocation) return loc.nodes
  const nodes = lighten(document, undefined)
  const [first, last] = [loc?.startToken.kind, loc?.endToken.kind]
  if (loc && first === TokenKind.SOF && last === TokenKind.EOF)
    replace(document, new DocumentLocation(loc, nodes))
  return nodes
}

function lighten(node: ASTNode, around: Location | undefined): number {
  const loc = node.kind === 'Document' ? undefined : lighter(node, around)
  let nodes = 1
  for (const name of membersOf(node.kind)) {
    const member = memberOf(node, name)
    if (member == null) continue
    if (isList(member)) for (const one of member) nodes += lighten(one, loc)
    else nodes += lighten(member, loc)
  }
  return nodes
}

/**
 * Replaces the location of a node. A node with the same range as its parent shares the location of the
 * parent, such as the name of a leaf field.
 */
function lighter(node: ASTNode, around: Location | undefined): Location | undefined {
  const { loc } = node
  if (!(loc instanceof Location) || loc instanceof LightLocation) return loc
  const isSame = loc.start === around?.start && loc.end === around.end
  const light = isSame ? around : new LightLocation(loc)
  replace(node, light)
  return light
}

function replace(node: ASTNode, loc: Location): void {
  try {
    ;(node as { loc?: Location }).loc = loc
  } catch {
    // A plugin has frozen the node.
  }
}

/** `Location` without its constructor, which requires tokens. */
const Base = function () {} as unknown as new () => Pick<Location, 'toJSON' | typeof Symbol.toStringTag>
Base.prototype = Location.prototype

/** Location of a node without tokens. */
class LightLocation extends Base implements Location {
  readonly start: number
  readonly end: number
  readonly source: Source

  constructor({ start, end, source }: Location) {
    super()
    this.start = start
    this.end = end
    this.source = source
  }

  get startToken(): Token {
    const { byStart, first } = tokensOf(this.source)
    return byStart.get(this.start) ?? first
  }

  get endToken(): Token {
    const { byEnd, last } = tokensOf(this.source)
    return byEnd.get(this.end) ?? last
  }
}

/** Location of a document. It starts with the SOF token and ends with the EOF token of its source. */
class DocumentLocation extends LightLocation {
  readonly nodes: number

  constructor(loc: Location, nodes: number) {
    super(loc)
    this.nodes = nodes
  }

  override get startToken(): Token {
    return tokensOf(this.source).first
  }

  override get endToken(): Token {
    return tokensOf(this.source).last
  }
}

interface Tokens {
  readonly first: Token
  readonly last: Token
  readonly byStart: ReadonlyMap<number, Token>
  readonly byEnd: ReadonlyMap<number, Token>
}

/** Tokens of sources that were parsed again, until the tokens are garbage-collected. */
const known = new WeakMap<Source, WeakRef<Tokens>>()

function tokensOf(source: Source): Tokens {
  const before = known.get(source)?.deref()
  if (before) return before
  const lexer = new Lexer(source)
  const first = lexer.token
  const byStart = new Map<number, Token>()
  const byEnd = new Map<number, Token>()
  let token = lexer.advance()
  for (; token.kind !== TokenKind.EOF; token = lexer.advance()) {
    byStart.set(token.start, token)
    byEnd.set(token.end, token)
  }
  const tokens = { first, last: token, byStart, byEnd }
  known.set(source, new WeakRef(tokens))
  return tokens
}
