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
/** The lexer makes a token of each comment without counting it, and takes block strings apart at their lines. */
const MAX_LINES = 20_000
/** Limit of one name. Names are compared, printed and quoted over and over. */
const MAX_NAME_CHARACTERS = 1_000

/**
 * Reads a document's tokens once, without recursion, and throws a `GraphQLError` (`DOCUMENT_LIMIT_EXCEEDED`)
 * at the first limit passed: a hostile document costs no more than its allowed prefix.
 * Text that is no GraphQL throws the lexer's own syntax error.
 */
export function scanTokens(text: string, limits: DocumentLimits): void {
  let lines = 0
  for (const _ of text.matchAll(/[\n\r]/g)) if (++lines > MAX_LINES) throw limitExceeded('lines', MAX_LINES)
  const lexer = new Lexer(new Source(text))
  const selections: Map<string, number>[] = []
  let tokens = 0
  let nesting = 0
  /** Brackets open inside arguments, variables or type system definitions: names there are no fields. */
  let valueDepth = 0
  let aliases = 0
  let directives = 0

  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    if (limits.maxTokens > 0 && ++tokens > limits.maxTokens) throw limitExceeded('tokens', limits.maxTokens)
    const selection = valueDepth === 0 ? selections.at(-1) : undefined
    switch (token.kind) {
      case TokenKind.BRACE_L:
        if (valueDepth > 0) valueDepth++
        else {
          selections.push(new Map())
          directives = 0
          if (limits.maxDepth > 0 && selections.length > limits.maxDepth)
            throw limitExceeded('levels of depth', limits.maxDepth)
        }
        if (++nesting > MAX_NESTING) throw limitExceeded('nested brackets', MAX_NESTING)
        break
      case TokenKind.PAREN_L:
      case TokenKind.BRACKET_L:
        valueDepth++
        if (++nesting > MAX_NESTING) throw limitExceeded('nested brackets', MAX_NESTING)
        break
      case TokenKind.BRACE_R:
        if (valueDepth > 0) valueDepth--
        else selections.pop()
        nesting--
        directives = 0
        break
      case TokenKind.PAREN_R:
      case TokenKind.BRACKET_R:
        valueDepth = Math.max(0, valueDepth - 1)
        nesting--
        break
      case TokenKind.AT:
        if (valueDepth > 0) break
        if (limits.maxDirectives > 0 && ++directives > limits.maxDirectives) {
          throw limitExceeded('directives at one location', limits.maxDirectives)
        }
        break
      case TokenKind.COLON:
        if (selection && limits.maxAliases > 0 && ++aliases > limits.maxAliases) {
          throw limitExceeded('aliases', limits.maxAliases)
        }
        break
      case TokenKind.NAME:
        if (token.end - token.start > MAX_NAME_CHARACTERS) {
          throw limitExceeded('characters in a name', MAX_NAME_CHARACTERS)
        }
        if (!selection || !isFieldName(token)) break
        directives = 0
        if (limits.maxDuplicateFields > 0) countField(selection, token, limits.maxDuplicateFields)
        break
      case TokenKind.SPREAD:
        directives = 0
        break
      default:
        break
    }
  }
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
