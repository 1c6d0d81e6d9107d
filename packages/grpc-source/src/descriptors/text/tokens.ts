/** The smallest parts of a `.proto` text. */
export interface Token {
  readonly kind: 'name' | 'integer' | 'float' | 'string' | 'symbol' | 'end'
  /** As written; of a string, the bytes it stands for, one character a byte. */
  readonly text: string
  readonly line: number
  readonly column: number
  /** Where it stands in the text: from `start` up to `end`. */
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

/** Splits a `.proto` text, and attaches its comments as protoc's tokenizer does. */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = []
  let position = 0
  let line = 1
  let lineStart = 0

  function take(pattern: RegExp): string | undefined {
    pattern.lastIndex = position
    const found = pattern.exec(source)?.[0]
    if (found === undefined || found === '') return undefined
    position += found.length
    return found
  }

  function place(): { line: number; column: number } {
    return { line, column: position - lineStart + 1 }
  }

  function countLines(text: string): void {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
      line += 1
      lineStart = position - text.length + at + 1
    }
  }

  function takeNewline(): boolean {
    if (source[position] !== '\n') return false
    position += 1
    line += 1
    lineStart = position
    return true
  }

  function takeComment(): { readonly text: string; readonly isLine: boolean } | undefined {
    if (source[position] !== '/') return undefined
    const at = place()
    const written = take(LINE_COMMENT)
    if (written !== undefined) {
      countLines(written)
      return { text: written.slice(2), isLine: true }
    }
    const block = take(BLOCK_COMMENT)
    if (block === undefined) {
      if (source[position + 1] === '*') throw new ProtoSyntaxError(at, 'a comment that is never closed')
      return undefined
    }
    countLines(block)
    // What stands before a line's first star belongs to the frame, what stands behind it to the text.
    return { text: block.slice(2, -2).replace(/\n[^\S\n]*\*?/g, '\n'), isLine: false }
  }

  /** Everything up to the next token: what belongs to the previous one, and what to the next. */
  function takeSpace(previous: Token | undefined): string {
    let isAttachable = previous !== undefined
    let pending: { text: string; isLine: boolean } | undefined
    const flush = (): void => {
      if (pending && isAttachable && previous) {
        previous.trailing = pending.text
        isAttachable = false
      }
      pending = undefined
    }
    if (previous) {
      take(SPACE)
      const comment = takeComment()
      if (comment) {
        pending = comment
        if (!comment.isLine) {
          take(SPACE)
          // On one line with the next token: nobody knows whose it is.
          if (!takeNewline()) pending = undefined
        }
        flush()
      } else takeNewline()
    }
    for (;;) {
      take(SPACE)
      const comment = takeComment()
      if (comment) {
        if (pending && !(pending.isLine && comment.isLine)) flush()
        pending = pending ? { text: pending.text + comment.text, isLine: true } : comment
        if (!comment.isLine) {
          take(SPACE)
          takeNewline()
        }
      } else if (takeNewline()) {
        flush()
        isAttachable = false
      } else break
    }
    // Before the end of a scope it can only belong to what stands before.
    const next = source[position]
    if (next === undefined || next === '}' || next === ']' || next === ')') flush()
    return pending?.text ?? ''
  }

  for (;;) {
    const leading = takeSpace(tokens.at(-1))
    const at = place()
    const start = position
    const add = (kind: Token['kind'], text: string): void => {
      tokens.push({ kind, text, ...at, start, end: position, leading, trailing: '' })
    }
    if (position >= source.length) {
      add('end', '')
      return tokens
    }
    const name = take(NAME)
    if (name !== undefined) {
      add('name', name)
      continue
    }
    const number = take(NUMBER)
    if (number !== undefined) {
      add(INTEGER.test(number) ? 'integer' : 'float', number)
      continue
    }
    const string = take(STRING)
    if (string !== undefined) {
      countLines(string)
      add('string', unescape(string.slice(1, -1)))
      continue
    }
    const symbol = source[position] ?? ''
    if (symbol === '"' || symbol === "'") throw new ProtoSyntaxError(at, 'a string that is never closed')
    position += 1
    add('symbol', symbol)
  }
}

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
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
