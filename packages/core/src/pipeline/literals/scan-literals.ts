/** Number or string literal in a document. */
export interface Literal {
  readonly kind: 'string' | 'number'
  /** Offset of the literal in the document. */
  readonly start: number
  /** Source text of the literal. The quotes of strings are not included. */
  readonly raw: string
}

export interface ScannedText {
  /**
   * The document with a mark instead of each literal. Documents that differ only in literals have the same
   * shape.
   */
  readonly shape: string
  readonly literals: readonly Literal[]
}

const STRING = '\u0001'
const NUMBER = '\u0002'
// oxlint-disable-next-line no-control-regex -- clients have no reason to send these characters
const HAS_MARK = /[\u0001\u0002]/
const NUMBER_TOKEN = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/y
/**
 * Matches strings without escapes, control characters and surrogates. A surrogate pair counts as one or two
 * characters, depending on the code that counts.
 */
// oxlint-disable-next-line no-control-regex -- GraphQL strings do not contain these characters
const PLAIN_STRING = /"([^"\\\u0000-\u001f\ud800-\udfff]*)"/y
const ANY_STRING = /"(?:[^"\\\n\r]|\\.)*"/y
const BLOCK_STRING = /"""(?:[^"\\]|\\"""|\\|"(?!""))*"""/y
/** Maximum number of literals. Replacing more literals has no benefit. */
const MAX_LITERALS = 64

/**
 * Finds the literals of a document in one pass. Returns `undefined` if the document has no literals or too
 * many, or if the text is possibly not a document. Literals that are not plain remain in the shape.
 */
export function scanLiterals(text: string): ScannedText | undefined {
  if (HAS_MARK.test(text)) return undefined
  const literals: Literal[] = []
  let shape = ''
  let copied = 0
  let at = 0

  function take(kind: Literal['kind'], raw: string, length: number): void {
    literals.push({ kind, start: at, raw })
    shape += text.slice(copied, at) + (kind === 'string' ? STRING : NUMBER)
    copied = at + length
  }

  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (isNameStart(code)) {
      do at++
      while (isNameStart(text.charCodeAt(at)) || isDigit(text.charCodeAt(at)))
    } else if (code === QUOTE) {
      const isBlock = text.startsWith('"""', at)
      const plain = isBlock ? undefined : match(PLAIN_STRING, text, at)
      const found = plain ?? match(isBlock ? BLOCK_STRING : ANY_STRING, text, at)
      if (!found) return undefined
      if (plain) take('string', plain[1] as string, plain[0].length)
      at += found[0].length
    } else if (isDigit(code) || code === MINUS) {
      const found = match(NUMBER_TOKEN, text, at)
      if (!found) return undefined
      take('number', found[0], found[0].length)
      at += found[0].length
    } else if (code === HASH) {
      while (at < text.length && text.charCodeAt(at) !== LINE_FEED && text.charCodeAt(at) !== RETURN) at++
    } else at++
  }
  if (literals.length === 0 || literals.length > MAX_LITERALS) return undefined
  return { shape: shape + text.slice(copied), literals }
}

const QUOTE = 0x22
const HASH = 0x23
const MINUS = 0x2d
const LINE_FEED = 0x0a
const RETURN = 0x0d

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

function isNameStart(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code === 0x5f
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}
