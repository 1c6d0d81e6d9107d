/** The smallest parts of a `.proto` text. */
export interface Token {
  readonly kind: 'name' | 'integer' | 'float' | 'string' | 'symbol' | 'end'
  /** The text as written; of a string, the bytes it stands for, one character a byte. */
  readonly text: string
  readonly line: number
  readonly column: number
  /** Its place in the text: from `start` up to `end`. */
  readonly start: number
  readonly end: number
  /** The comment that stands before it, as protoc attaches comments. */
  leading: string
  /** The comment that stands after it. */
  trailing: string
}

/** A text that is no `.proto`: says where, and what was expected. */
export class ProtoSyntaxError extends Error {
  constructor({ line, column }: Pick<Token, 'line' | 'column'>, message: string) {
    super(`line ${line}, column ${column}: ${message}`)
    this.name = 'ProtoSyntaxError'
  }
}

const SPACE = /[ \t\r\f\v\uFEFF]+/y
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y
const NUMBER = /(?:0[xX][0-9a-fA-F]+)|(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fF]?)/y
const INTEGER = /^(?:0[xX][0-9a-fA-F]+|\d+)$/
const LINE_COMMENT = /\/\/[^\n]*\n?/y
const BLOCK_COMMENT = /\/\*[^]*?\*\//y
const STRING = /"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'/y

/** Splits a `.proto` text, and attaches its comments as protoc's tokenizer does. @throws ProtoSyntaxError */
export function tokenize(source: string): Token[] {
  return new Tokenizer(source).all()
}

interface Comment {
  readonly text: string
  readonly isLine: boolean
}

class Tokenizer {
  private readonly source: string
  private position = 0
  private line = 1
  private lineStart = 0

  constructor(source: string) {
    this.source = source
  }

  all(): Token[] {
    const tokens: Token[] = []
    let last: Token | undefined
    do {
      last = this.next(last)
      tokens.push(last)
    } while (last.kind !== 'end')
    return tokens
  }

  private next(previous: Token | undefined): Token {
    const leading = this.takeSpace(previous)
    const { line, column } = this.place()
    const start = this.position
    const { kind, text } = this.takeToken()
    return { kind, text, line, column, start, end: this.position, leading, trailing: '' }
  }

  private takeToken(): Pick<Token, 'kind' | 'text'> {
    if (this.position >= this.source.length) return { kind: 'end', text: '' }
    const name = this.take(NAME)
    if (name !== undefined) return { kind: 'name', text: name }
    const at = this.place()
    const number = this.take(NUMBER)
    if (number !== undefined) {
      this.refuseNumber(number, at)
      return { kind: INTEGER.test(number) ? 'integer' : 'float', text: number }
    }
    const string = this.take(STRING)
    if (string !== undefined) {
      this.refuseEscape(string)
      this.countLines(string)
      return { kind: 'string', text: unescape(string.slice(1, -1)) }
    }
    const symbol = String.fromCodePoint(this.source.codePointAt(this.position) ?? 0)
    if (symbol === '"' || symbol === "'")
      throw new ProtoSyntaxError(at, `the string is not closed; add the missing ${symbol} on the same line`)
    if (!/[!-~]/.test(symbol)) {
      throw new ProtoSyntaxError(
        at,
        `the character ${JSON.stringify(symbol)} is only allowed in comments and strings; remove the character, or replace it with ASCII characters`,
      )
    }
    this.position += 1
    return { kind: 'symbol', text: symbol }
  }

  private refuseNumber(number: string, at: Pick<Token, 'line' | 'column'>): void {
    const next = this.source[this.position] ?? ''
    if (number === '0' && /[xX]/.test(next))
      throw new ProtoSyntaxError(at, 'the hexadecimal number has no digits; add hexadecimal digits after 0x')
    if (/[A-Za-z_.]/.test(next)) {
      throw new ProtoSyntaxError(
        at,
        `"${next}" follows the number ${number} without a space; insert a space, or remove "${next}"`,
      )
    }
    if (/^0\d+$/.test(number) && /[89]/.test(number)) {
      throw new ProtoSyntaxError(
        at,
        `${number} starts with 0 but is not an octal number; write ${number.replace(/^0+/, '')}`,
      )
    }
  }

  /** The string is taken already. */
  private refuseEscape(string: string): void {
    for (const match of string.matchAll(ESCAPE)) {
      const simple = match[5]
      if (simple === undefined || simple in SIMPLE_ESCAPES) continue
      const at = placeOf(this.source, this.position - string.length + match.index)
      throw new ProtoSyntaxError(
        at,
        `a backslash before ${JSON.stringify(simple)} is not a valid escape sequence; correct the escape sequence, or write two backslashes for a literal backslash`,
      )
    }
  }

  private take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.position
    const found = pattern.exec(this.source)?.[0]
    if (found === undefined || found === '') return undefined
    this.position += found.length
    return found
  }

  private place(): Pick<Token, 'line' | 'column'> {
    return { line: this.line, column: this.position - this.lineStart + 1 }
  }

  private countLines(text: string): void {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
      this.line += 1
      this.lineStart = this.position - text.length + at + 1
    }
  }

  private takeNewline(): boolean {
    if (this.source[this.position] !== '\n') return false
    this.position += 1
    this.line += 1
    this.lineStart = this.position
    return true
  }

  private takeComment(): Comment | undefined {
    if (this.source[this.position] !== '/') return undefined
    const at = this.place()
    const written = this.take(LINE_COMMENT)
    if (written !== undefined) {
      this.countLines(written)
      return { text: written.slice(2), isLine: true }
    }
    const block = this.take(BLOCK_COMMENT)
    if (block === undefined) {
      if (this.source[this.position + 1] === '*')
        throw new ProtoSyntaxError(at, 'the comment is not closed; add the missing */')
      return undefined
    }
    const nested = block.slice(0, -1).indexOf('/*', 2)
    if (nested >= 0) {
      throw new ProtoSyntaxError(
        placeOf(this.source, this.position - block.length + nested),
        'comments cannot be nested, because the first */ ends the comment; remove the inner /*',
      )
    }
    this.countLines(block)
    // The space at the beginning of a line, and a star behind it, belong to the frame, the rest to the text.
    return { text: block.slice(2, -2).replace(/\n[^\S\n]*\*?/g, '\n'), isLine: false }
  }

  /** Takes everything up to the next token, gives the previous one its comment, and returns the comment of the next. */
  private takeSpace(previous: Token | undefined): string {
    let isAttachable = previous !== undefined
    let pending: Comment | undefined
    const flush = (): void => {
      if (pending && isAttachable && previous) {
        previous.trailing = pending.text
        isAttachable = false
      }
      pending = undefined
    }
    if (previous) {
      pending = this.takeTrailing()
      flush()
    }
    for (;;) {
      this.take(SPACE)
      const comment = this.takeComment()
      if (comment) {
        if (pending && !(pending.isLine && comment.isLine)) flush()
        pending = pending ? { text: pending.text + comment.text, isLine: true } : comment
        if (!comment.isLine) {
          this.take(SPACE)
          this.takeNewline()
        }
      } else if (this.takeNewline()) {
        flush()
        isAttachable = false
      } else break
    }
    // Before the end of a scope it can only belong to what stands before.
    const next = this.source[this.position]
    if (next === undefined || next === '}' || next === ']' || next === ')') flush()
    return pending?.text ?? ''
  }

  /** A comment on the line of the token before it. */
  private takeTrailing(): Comment | undefined {
    this.take(SPACE)
    const comment = this.takeComment()
    if (!comment) this.takeNewline()
    if (!comment || comment.isLine) return comment
    this.take(SPACE)
    // On one line with the next token: nobody knows whose it is.
    return this.takeNewline() ? comment : undefined
  }
}

function placeOf(source: string, offset: number): Pick<Token, 'line' | 'column'> {
  const before = source.slice(0, offset)
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '?': '?',
  '\\': '\\',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

const ESCAPE = /\\(?:[xX]([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([^]))/g

/** The bytes that a string stands for, one character a byte. */
function unescape(written: string): string {
  // Most strings are plain ASCII; the range below is all of it.
  // oxlint-disable-next-line no-control-regex
  if (/^[\x00-\x5B\x5D-\x7F]*$/.test(written)) return written
  const parts: string[] = []
  let last = 0
  for (const match of written.matchAll(ESCAPE)) {
    parts.push(toBytes(written.slice(last, match.index)))
    const [whole, hex, octal, short, long, simple] = match
    if (hex !== undefined) parts.push(String.fromCharCode(Number.parseInt(hex, 16)))
    else if (octal !== undefined) parts.push(String.fromCharCode(Number.parseInt(octal, 8) & 0xff))
    else if (simple !== undefined) parts.push(SIMPLE_ESCAPES[simple] ?? toBytes(simple))
    else parts.push(toBytes(toCharacter(short ?? long ?? '')))
    last = match.index + whole.length
  }
  parts.push(toBytes(written.slice(last)))
  return parts.join('')
}

function toCharacter(hex: string): string {
  const codePoint = Number.parseInt(hex, 16)
  return codePoint > 0x10ffff ? '\uFFFD' : String.fromCodePoint(codePoint)
}

function toBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}
