import type { ParseContext } from './context.ts'
import { readBracketedOptions } from './option-text.ts'
import { ProtoSyntaxError, type Token } from './tokens.ts'

interface Limits {
  readonly min: number
  readonly max: number
  /** What the word `max` means, where it is not the largest number that can be written. */
  readonly word?: number
}

export interface NumberRange {
  readonly start: number
  /** Not in the range any more, except in an enum's. */
  readonly end: number
}

interface Ranges {
  /** The numbers that the element can have. */
  readonly limits: Limits
  /** Told of a range whose end belongs to it. */
  readonly add: (range: NumberRange, at: Token) => void
}

/** The numbers that fields may have. */
export const FIELD_NUMBERS: Limits = { min: 1, max: 2 ** 29 - 1 }

/** The numbers that messages in the old format of MessageSets may be extended with: all whose next is an int32. */
export const MESSAGE_SET_NUMBERS: Limits = { min: 1, max: 2 ** 31 - 2 }

/** The numbers that may be reserved: protobuf has no limit of its own for them. */
export const RESERVED_NUMBERS: Limits = { ...MESSAGE_SET_NUMBERS, word: FIELD_NUMBERS.max }

/** Reads `reserved 1, 3 to max;` or `reserved "a", "b";`, whose words have no quotes in editions. */
export function parseReserved(
  context: ParseContext,
  element: string,
  { names, ...ranges }: Ranges & { readonly names: string[] },
): void {
  const { tokens, syntax } = context
  tokens.expect('reserved')
  const { kind } = tokens.peek()
  if (kind === 'string' || kind === 'name') {
    do {
      const at = tokens.peek()
      const name = readReservedName(context)
      if (names.includes(name))
        throw new ProtoSyntaxError(
          at,
          `${element} reserves the name "${name}" twice; remove the second "${name}"`,
        )
      names.push(name)
    } while (tokens.skip(','))
  } else {
    readRanges(
      context,
      `${element} reserves`,
      syntax === 'editions' ? 'a number or a name to reserve' : 'a number or a name in quotes to reserve',
      ranges,
    )
  }
  tokens.expect(';')
}

function readReservedName({ tokens, syntax }: ParseContext): string {
  const at = tokens.peek()
  if (syntax === 'editions') {
    if (at.kind === 'string')
      throw new ProtoSyntaxError(
        at,
        `in editions, reserved names must not be in quotes; write reserved ${at.text};`,
      )
    return tokens.name('a reserved name')
  }
  if (at.kind === 'name')
    throw new ProtoSyntaxError(at, `reserved names must be in quotes; write reserved "${at.text}";`)
  return tokens.string('a reserved name in quotes')
}

/** Reads `extensions 100 to 199, 1000 to max [verification = UNVERIFIED];`. */
export function parseExtensionRanges(context: ParseContext, element: string, ranges: Ranges): void {
  const { tokens } = context
  tokens.expect('extensions')
  readRanges(context, `${element} declares the extension numbers`, 'a number', ranges)
  readBracketedOptions(tokens)
  tokens.expect(';')
}

function readRanges(
  { tokens }: ParseContext,
  declares: string,
  first: string,
  { limits, add }: Ranges,
): void {
  let what = first
  do {
    const at = tokens.peek()
    const start = tokens.integer(what)
    what = 'a number'
    let end = start
    if (tokens.skip('to'))
      end = tokens.skip('max') ? (limits.word ?? limits.max) : tokens.integer('a number or "max" after "to"')
    if (start < limits.min || end > limits.max) {
      throw new ProtoSyntaxError(
        at,
        `${declares} ${toRange(start, end)}, but the numbers must be from ${limits.min} to ${limits.max}`,
      )
    }
    if (end < start) {
      throw new ProtoSyntaxError(
        at,
        `the range ${start} to ${end} ends before it starts; write ${end} to ${start}`,
      )
    }
    add({ start, end }, at)
  } while (tokens.skip(','))
}

/** A range as it is written, its end in it. */
export function toRange(start: number, end: number, max: number = FIELD_NUMBERS.max): string {
  if (start === end) return String(start)
  return `${start} to ${end === max ? 'max' : end}`
}
