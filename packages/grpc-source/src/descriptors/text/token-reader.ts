import { ProtoSyntaxError, tokenize, type Token } from './tokens.ts'

/** Walks over the tokens of one text. */
export class TokenReader {
  readonly #source: string
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(source: string) {
    this.#source = source
    this.#tokens = tokenize(source)
  }

  /** The token that comes next, or one further on. */
  peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)] as Token
  }

  next(): Token {
    const token = this.peek()
    if (token.kind !== 'end') this.#at += 1
    return token
  }

  looksAt(text: string, ahead = 0): boolean {
    const token = this.peek(ahead)
    return token.text === text && (token.kind === 'symbol' || token.kind === 'name')
  }

  /** Takes the token if it is this one. */
  skip(text: string): boolean {
    if (!this.looksAt(text)) return false
    this.#at += 1
    return true
  }

  expect(text: string): Token {
    if (this.looksAt(text)) return this.next()
    throw this.unexpected(`"${text}"`)
  }

  name(what: string): string {
    if (this.peek().kind !== 'name') throw this.unexpected(what)
    return this.next().text
  }

  /** A name with dots, as types and packages have it; with a leading dot it is absolute. */
  dottedName(what: string): string {
    let name = this.skip('.') ? '.' : ''
    name += this.name(what)
    while (this.skip('.')) name += `.${this.name(what)}`
    return name
  }

  integer(what: string): number {
    const isNegative = this.skip('-')
    const token = this.peek()
    if (token.kind !== 'integer') throw this.unexpected(what)
    this.#at += 1
    const value = Number(parseInteger(token.text))
    return isNegative ? -value : value
  }

  /** Strings that follow each other are one. */
  string(what: string): string {
    if (this.peek().kind !== 'string') throw this.unexpected(what)
    let bytes = ''
    while (this.peek().kind === 'string') bytes += this.next().text
    return Buffer.from(bytes, 'latin1').toString('utf8')
  }

  /** The text between two places as written, without its comments. */
  written(from: number, to: number): string {
    let text = ''
    let end = -1
    for (const token of this.#tokens.slice(from, to)) {
      if (end >= 0 && token.start > end) text += ' '
      text += this.#source.slice(token.start, token.end)
      end = token.end
    }
    return text
  }

  /** How many tokens were taken. */
  get place(): number {
    return this.#at
  }

  unexpected(expected: string): ProtoSyntaxError {
    const token = this.peek()
    const found =
      token.kind === 'end' ? 'found the end of the file' : `found ${JSON.stringify(token.text.slice(0, 80))}`
    return new ProtoSyntaxError(token, `expected ${expected}, ${found}`)
  }
}

/** Reads an integer as protobuf writes it: decimal, `0x…`, or octal with a leading zero. */
export function parseInteger(text: string): bigint {
  return BigInt(/^0[0-7]+$/.test(text) ? `0o${text.slice(1)}` : text)
}
