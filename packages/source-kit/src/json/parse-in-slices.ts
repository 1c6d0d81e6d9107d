import { endOfText, JsonByte, type JsonLimits, kindOf, SLICE_BYTES, type Turns } from '@vinyasa/core'

export interface ParseOptions extends JsonLimits {
  readonly turns: Turns
  /** Parses a part of the text, which is a list or an object. */
  readonly parse: (text: string) => unknown
  /** Creates the error for an exceeded limit. */
  readonly refuse: (limit: keyof JsonLimits) => Error
}

/** Bytes of a text without commas that are scanned in one turn. */
const SCANNED_BYTES = 16 * SLICE_BYTES
const COMMA_BYTE = 0x2c
const LIST_START = 0x5b
const LIST_END = 0x5d
/** Space, tab and the ends of lines. */
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])

type Members = unknown[] | Record<string, unknown>

/** A list or an object that has not ended. */
interface Open {
  readonly isList: boolean
  /** The place behind its bracket. */
  readonly start: number
  /** The place behind all that is in `members`, and that of its last member. */
  from: number
  last: number
  /** Undefined: all of it is text still. */
  members: Members | undefined
  /** It has a member that is taken apart itself, and ends at `from`. */
  isBehindMember: boolean
  key: string
}

/**
 * Parses UTF-8 JSON, about `SLICE_BYTES` per tick of the event loop. Long lists and objects are split at their
 * commas. Only small slices become strings, which V8 frees cheaply. A string of several megabytes would stay in
 * memory until a full garbage collection.
 */
export async function parseInSlices(given: Uint8Array, options: ParseOptions): Promise<unknown> {
  const parser = new SliceParser(given, options)
  while (!parser.readSlice()) await options.turns.next()
  return parser.value()
}

class SliceParser {
  readonly #bytes: Buffer
  readonly #options: ParseOptions
  readonly #open: Open[] = []
  #items = 0
  /** The place of the comma behind the last slice. */
  #taken = 0
  #next = 0
  #whole: Members | undefined

  constructor(given: Uint8Array, options: ParseOptions) {
    this.#bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength)
    this.#options = options
  }

  /** Reads up to the end of a slice, or of the text, which is true; V8 does not optimise loops of async functions. */
  readSlice(): boolean {
    const bytes = this.#bytes
    const open = this.#open
    const { maxDepth, maxItems, refuse } = this.#options
    const { length } = bytes
    const end = Math.min(length, this.#next + SCANNED_BYTES)
    let index = this.#next
    for (; index < end; index++) {
      switch (kindOf[bytes[index] as number]) {
        case JsonByte.TEXT:
          index = endOfText(bytes, index)
          break
        case JsonByte.COMMA: {
          if (++this.#items > maxItems) throw refuse('maxItems')
          const inner = open.at(-1)
          if (!inner) throw noJson(index)
          const isSlice = index - this.#taken > SLICE_BYTES
          if (isSlice) {
            this.#takeApart()
            this.#taken = index
          }
          if (isSlice || inner.isBehindMember) {
            this.#take(inner, index)
            inner.from = index + 1
          }
          inner.last = index + 1
          if (!isSlice) break
          this.#next = index + 1
          return this.#next === length
        }
        case JsonByte.OPEN: {
          if (open.length >= maxDepth) throw refuse('maxDepth')
          if (++this.#items > maxItems) throw refuse('maxItems')
          open.push(opened(index + 1, bytes[index] === LIST_START))
          break
        }
        case JsonByte.CLOSE: {
          const closing = open.pop()
          if (!closing || closing.isList !== (bytes[index] === LIST_END)) throw noJson(index)
          this.#whole = closing.members && this.#close(closing, index)
          if (!this.#whole) break
          if (!this.#isBlank(index + 1, length)) throw noJson(index + 1)
          return true
        }
      }
    }
    this.#next = index
    return index >= length
  }

  value(): unknown {
    if (this.#whole) return this.#whole
    const { length } = this.#bytes
    if (this.#open.length > 0) throw noJson(length)
    return this.#options.parse(this.#textOf(0, length))
  }

  /** Decodes bytes; members are separated by ASCII, so that no character is ever cut. */
  #textOf(from: number, to: number): string {
    return this.#bytes.toString('utf8', from, to)
  }

  #isBlank(from: number, to: number): boolean {
    for (let at = from; at < to; at++) if (!BLANKS.has(this.#bytes[at] as number)) return false
    return true
  }

  /** Puts complete members, which end at `to`, to the others. */
  #take(taker: Open, to: number): void {
    const { isList, from, start, members, isBehindMember } = taker
    if (this.#isBlank(from, to)) {
      if (!isBehindMember && (from !== start || this.#bytes[to] === COMMA_BYTE)) throw noJson(to)
      taker.members ??= isList ? [] : {}
    } else if (isBehindMember) throw noJson(from)
    else {
      const text = this.#textOf(from, to)
      const part = this.#options.parse(isList ? `[${text}]` : `{${text}}`) as Members
      if (!members) taker.members = part
      else if (Array.isArray(members)) for (const item of part as unknown[]) members.push(item)
      else for (const [key, value] of Object.entries(part)) put(members, key, value)
    }
    taker.isBehindMember = false
  }

  /** Takes apart what the innermost one is in: each with all members but the one that is open. */
  #takeApart(): void {
    for (const [index, inner] of this.#open.entries()) {
      if (inner.members) continue
      const outer = this.#open[index - 1]
      const at = inner.start - 1
      if (outer) this.#takeBefore(outer, at)
      else if (!this.#isBlank(0, at)) throw noJson(0)
      else continue
      inner.members = inner.isList ? [] : {}
    }
  }

  #takeBefore(outer: Open, at: number): void {
    const { start, from, last, isList } = outer
    if (last > from || outer.members === undefined) {
      if (last === start) outer.members ??= isList ? [] : {}
      else this.#take(outer, last - 1)
      outer.from = last
    }
    if (isList) {
      if (!this.#isBlank(last, at)) throw noJson(at)
      return
    }
    const name = /^[ \t\r\n]*("[^]*")[ \t\r\n]*:[ \t\r\n]*$/.exec(this.#textOf(last, at))?.[1]
    if (name === undefined) throw noJson(at)
    outer.key = JSON.parse(name) as string
  }

  /** The value, when it was the outermost. */
  #close(closing: Open, at: number): Members | undefined {
    this.#take(closing, at)
    const outer = this.#open.at(-1)
    const value = closing.members as Members
    if (!outer) return value
    if (Array.isArray(outer.members)) outer.members.push(value)
    else put(outer.members as Record<string, unknown>, outer.key, value)
    outer.from = at + 1
    outer.isBehindMember = true
    return undefined
  }
}

function opened(start: number, isList: boolean): Open {
  return { isList, start, from: start, last: start, members: undefined, isBehindMember: false, key: '' }
}

function put(members: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') members[key] = value
  else Object.defineProperty(members, key, { value, enumerable: true, configurable: true, writable: true })
}

function noJson(at: number): SyntaxError {
  return new SyntaxError(`invalid JSON at position ${at}`)
}
