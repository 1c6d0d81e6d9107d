import type { TokenReader } from './token-reader.ts'
import type { Token } from './tokens.ts'

/** One part of an option's name: `features`, or `(graphql.schema)`, which names an extension. */
export interface OptionNamePart {
  readonly name: string
  readonly isExtension: boolean
}

/** An option as written. */
export interface WrittenOption {
  readonly at: Token
  readonly name: readonly OptionNamePart[]
  /** In protobuf's text format, without comments. */
  readonly value: string
  /** The text that the value stands for, if it is one string. */
  readonly string: string | undefined
}

/** Reads `name = value`. The value may be anything between balanced brackets: only what is used is interpreted. */
export function readOption(tokens: TokenReader): WrittenOption {
  const at = tokens.peek()
  const name: OptionNamePart[] = []
  do {
    if (tokens.skip('(')) {
      name.push({ name: tokens.dottedName("an extension's name"), isExtension: true })
      tokens.expect(')')
    } else {
      name.push({ name: tokens.name("an option's name"), isExtension: false })
    }
  } while (tokens.skip('.'))
  tokens.expect('=')
  const from = tokens.place
  if (tokens.peek().kind === 'string') {
    const string = tokens.string('a string')
    return { at, name, value: tokens.written(from, tokens.place), string }
  }
  skipValue(tokens)
  return { at, name, value: tokens.written(from, tokens.place), string: undefined }
}

/** Reads what stands in braces, of which the first was taken: options, and `other` for whatever else. */
export function readBlock(
  tokens: TokenReader,
  other: (before: readonly WrittenOption[]) => void,
): WrittenOption[] {
  const options: WrittenOption[] = []
  while (!tokens.skip('}')) {
    if (tokens.skip(';')) continue
    if (tokens.skip('option')) {
      options.push(readOption(tokens))
      tokens.expect(';')
    } else other(options)
  }
  return options
}

/** Reads `[a = 1, b = 2]` where it stands. */
export function readBracketedOptions(tokens: TokenReader): WrittenOption[] {
  const options: WrittenOption[] = []
  if (!tokens.skip('[')) return options
  do options.push(readOption(tokens))
  while (tokens.skip(','))
  tokens.expect(']')
  return options
}

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']' }

function skipValue(tokens: TokenReader): void {
  const open: string[] = []
  for (let count = 0; ; count += 1) {
    const { kind, text } = tokens.peek()
    if (kind === 'end') throw tokens.unexpected(open.at(-1) === undefined ? 'a value' : `"${open.at(-1)}"`)
    if (kind === 'symbol') {
      if (open.length === 0 && (text === ';' || text === ',' || text === ']' || text === '}')) {
        if (count === 0) throw tokens.unexpected('a value')
        return
      }
      const closing = CLOSING[text]
      if (closing !== undefined) open.push(closing)
      else if (text === '}' || text === ']') {
        if (text !== open.pop()) throw tokens.unexpected('matching brackets')
      }
    }
    tokens.next()
  }
}
