import { Unsaid } from '../migration.ts'

/** One entry of a selection of Apollo's mapping language. */
export interface Selected {
  /** The field that it is for; undefined: what is below stands for itself. */
  readonly name: string | undefined
  /** Where the value is; undefined: it is made of what is below. */
  readonly path: readonly string[] | undefined
  /** The variable that the path begins at, without its `$`: `args`; `''` is the value itself. */
  readonly variable: string | undefined
  readonly fields: readonly Selected[] | undefined
  /** What of it cannot be said here. */
  readonly unsaid: string | undefined
}

const TOKEN =
  /\s+|#[^\n]*|(->\s*\w+)|(\.\.\.)|([A-Za-z_]\w*)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(-?\d+(?:\.\d+)?)|([${}:.,()[\]@])|(.)/gy

/** Parses a selection, a body or query parameters. Throws {@link Unsaid} for what is none. */
export function parseSelection(text: string): readonly Selected[] {
  const tokens: string[] = []
  for (const match of text.matchAll(TOKEN)) {
    if (match[7] !== undefined)
      throw new Unsaid(
        `selection, body or queryParams: the character "${match[7]}" is not supported; write a resolver in a TypeScript config`,
      )
    if (!/^(\s|#)/.test(match[0])) tokens.push(match[0])
  }
  return new Parser(tokens).parse()
}

class Parser {
  readonly #tokens: readonly string[]
  #at = 0

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens
  }

  parse(): readonly Selected[] {
    const all = this.#entries(undefined)
    if (this.#at < this.#tokens.length)
      throw new Unsaid(`selection, body or queryParams: unexpected "${this.#tokens[this.#at]}"`)
    return all
  }

  #entries(end: string | undefined): readonly Selected[] {
    const found: Selected[] = []
    while (this.#peek() !== end && this.#peek() !== undefined) {
      found.push(this.#entry())
      this.#skip(',')
    }
    return found
  }

  #entry(): Selected {
    this.#skip('...')
    const first = this.#peek() ?? ''
    const name = this.#tokens[this.#at + 1] === ':' ? keyOf(first) : undefined
    if (name !== undefined) this.#at += 2
    if (name !== undefined && this.#peek() === '{')
      return { name, path: undefined, variable: undefined, fields: this.#below(), unsaid: undefined }
    const { path, variable, unsaid } = this.#path()
    const fields = this.#peek() === '{' ? this.#below() : undefined
    const isField = path.length === 1 && variable === undefined
    return { name: name ?? (isField ? path[0] : undefined), path, variable, fields, unsaid }
  }

  #below(): readonly Selected[] {
    this.#at += 1
    const fields = this.#entries('}')
    if (!this.#skip('}')) throw new Unsaid('selection, body or queryParams: a "{" is never closed')
    return fields
  }

  #path(): { path: readonly string[]; variable: string | undefined; unsaid: string | undefined } {
    const path: string[] = []
    let variable: string | undefined
    let unsaid: string | undefined
    const begin = this.#next()
    if (begin === '$') {
      if (this.#peek() === '(') return { path, variable: '', unsaid: `$${this.#group()}` }
      variable = /^[a-z_]/i.test(this.#peek() ?? '') ? this.#next() : ''
    } else if (/^["'\w]/.test(begin) && !/^[\d-]/.test(begin)) path.push(keyOf(begin))
    else return { path, variable: '', unsaid: begin }
    for (;;) {
      if (this.#peek() === '.') {
        this.#at += 1
        path.push(keyOf(this.#next()))
      } else if (this.#peek()?.startsWith('->')) {
        const method = this.#next()
        const given = this.#peek() === '(' ? this.#group() : ''
        if (method.replaceAll(/\s/g, '') === '->first' && path.length > 0) path.push('[0]')
        else unsaid ??= `${method}${given}`
      } else return { path, variable, unsaid }
    }
  }

  /** What stands in parentheses, as text. */
  #group(): string {
    let depth = 0
    let text = ''
    do {
      const token = this.#next()
      depth += token === '(' ? 1 : token === ')' ? -1 : 0
      text += token
    } while (depth > 0)
    return text
  }

  #peek(): string | undefined {
    return this.#tokens[this.#at]
  }

  #next(): string {
    const token = this.#tokens[this.#at]
    if (token === undefined) throw new Unsaid('selection, body or queryParams: the text ends unexpectedly')
    this.#at += 1
    return token
  }

  #skip(token: string): boolean {
    if (this.#peek() !== token) return false
    this.#at += 1
    return true
  }
}

function keyOf(token: string): string {
  return /^["']/.test(token) ? token.slice(1, -1).replaceAll(/\\(.)/g, '$1') : token
}

/** A path as the `key` of a field has it; without steps it is the object that the field stands in. */
export function keyAt(path: readonly string[]): string {
  const [only] = path
  if (only === undefined) return pathAt(path)
  if (path.length === 1)
    return only === '$' || /[.[]/.test(only) ? `$['${only.replaceAll(/['\\]/g, String.raw`\$&`)}']` : only
  return pathAt(path).slice(2)
}

/** A path as `responsePath` has it. */
export function pathAt(path: readonly string[]): string {
  return path.reduce((text, part) => {
    if (part === '[0]') return `${text}[0]`
    return /^[A-Za-z_]\w*$/.test(part)
      ? `${text}.${part}`
      : `${text}['${part.replaceAll(/['\\]/g, String.raw`\$&`)}']`
  }, '$')
}
