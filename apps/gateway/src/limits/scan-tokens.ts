import { Lexer, Source, TokenKind, type Token } from 'graphql'
import { limitExceeded } from './errors.ts'

/** Limits of one document. 0 turns one off. */
export interface DocumentLimits {
  /** Lexical tokens in the document. */
  readonly maxTokens: number
  /** Fields inside one another: selection sets as written first, and with fragments put in place once it is parsed. */
  readonly maxDepth: number
  /** Aliases in the document, those of `__typename` included. */
  readonly maxAliases: number
  /** Directives at one place. */
  readonly maxDirectives: number
  /** How often one field may stand, under one response name, in one selection set. */
  readonly maxDuplicateFields: number
}

/** Brackets of any kind inside one another: the parser recurses, so this protects its stack whatever the limits. */
const MAX_NESTING = 500
/** Limit of one name. Names are compared, printed and quoted over and over. */
const MAX_NAME_CHARACTERS = 1_000

/** Tokens of one document, each told once and in turn: throws a `GraphQLError` (`DOCUMENT_LIMIT_EXCEEDED`) at the first limit passed. */
class TokenCounts {
  readonly #limits: DocumentLimits
  readonly #selections: Map<string, number>[] = []
  #tokens = 0
  #nesting = 0
  /** Brackets open inside arguments, variables or type system definitions: names there are no fields. */
  #valueDepth = 0
  #aliases = 0
  #directives = 0

  constructor(limits: DocumentLimits) {
    this.#limits = limits
  }

  add(token: Token): void {
    const { maxTokens, maxDepth, maxAliases, maxDirectives, maxDuplicateFields } = this.#limits
    if (token.kind === TokenKind.EOF) return
    if (maxTokens > 0 && ++this.#tokens > maxTokens) throw limitExceeded('tokens', maxTokens)
    const selection = this.#valueDepth === 0 ? this.#selections.at(-1) : undefined
    switch (token.kind) {
      case TokenKind.BRACE_L:
        if (this.#valueDepth > 0) this.#valueDepth++
        else {
          this.#selections.push(new Map())
          this.#directives = 0
          if (maxDepth > 0 && this.#selections.length > maxDepth)
            throw limitExceeded('levels of depth', maxDepth)
        }
        this.#open()
        break
      case TokenKind.PAREN_L:
      case TokenKind.BRACKET_L:
        this.#valueDepth++
        this.#open()
        break
      case TokenKind.BRACE_R:
        if (this.#valueDepth > 0) this.#valueDepth--
        else this.#selections.pop()
        this.#nesting--
        this.#directives = 0
        break
      case TokenKind.PAREN_R:
      case TokenKind.BRACKET_R:
        this.#valueDepth = Math.max(0, this.#valueDepth - 1)
        this.#nesting--
        break
      case TokenKind.AT:
        if (this.#valueDepth > 0) break
        if (maxDirectives > 0 && ++this.#directives > maxDirectives) {
          throw limitExceeded('directives at one place', maxDirectives)
        }
        break
      case TokenKind.COLON:
        if (selection && maxAliases > 0 && ++this.#aliases > maxAliases) {
          throw limitExceeded('aliases', maxAliases)
        }
        break
      case TokenKind.NAME:
        if (token.end - token.start > MAX_NAME_CHARACTERS) {
          throw limitExceeded('characters in a name', MAX_NAME_CHARACTERS)
        }
        if (!selection || !isFieldName(token)) break
        this.#directives = 0
        if (maxDuplicateFields > 0) countField(selection, token, maxDuplicateFields)
        break
      case TokenKind.SPREAD:
        this.#directives = 0
        break
      default:
        break
    }
  }

  #open(): void {
    if (++this.#nesting > MAX_NESTING) throw limitExceeded('nested brackets', MAX_NESTING)
  }
}

/** A lexer that hands out no token beyond a limit: a parser that reads from it costs no more than the allowed prefix. */
export class LimitedLexer extends Lexer {
  readonly #counts: TokenCounts

  constructor(source: Source, limits: DocumentLimits) {
    super(source)
    this.#counts = new TokenCounts(limits)
  }

  override advance(): Token {
    const token = super.advance()
    this.#counts.add(token)
    return token
  }
}

/**
 * Reads a document's tokens once, without recursion, and throws a `GraphQLError` (`DOCUMENT_LIMIT_EXCEEDED`)
 * at the first limit passed: a hostile document costs no more than its allowed prefix.
 * Text that is no GraphQL throws the lexer's own syntax error.
 */
export function scanTokens(text: string, limits: DocumentLimits): void {
  const lexer = new LimitedLexer(new Source(text), limits)
  while (lexer.advance().kind !== TokenKind.EOF);
}

/** A name in a selection set that is the response name of a field: no directive's, spread's or aliased field's. */
function isFieldName(token: Token): boolean {
  switch (token.prev?.kind) {
    case TokenKind.AT:
    case TokenKind.SPREAD:
    case TokenKind.COLON:
      return false
    case TokenKind.NAME:
      // `... on User`: the type's name follows `on`, which follows the spread.
      return !(token.prev.value === 'on' && token.prev.prev?.kind === TokenKind.SPREAD)
    default:
      return true
  }
}

function countField(selection: Map<string, number>, token: Token, limit: number): void {
  const count = (selection.get(token.value) ?? 0) + 1
  if (count > limit) throw limitExceeded('repetitions of one field', limit)
  selection.set(token.value, count)
}
