import { SLICE_BYTES, type Turns } from '../turns.ts'
import { CLOSE, COMMA, endOfText, kindOf, OPEN, TEXT, type JsonLimits } from './scan-json.ts'

export interface ParseOptions extends JsonLimits {
  readonly turns: Turns
  /** Parses parts of it, which are lists and objects. */
  readonly parse: (text: string) => unknown
  /** The error for a limit that is exceeded. */
  readonly refuse: (limit: keyof JsonLimits) => Error
}

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
  /** Where begins what is not in `members` yet, and where its last member begins. */
  from: number
  last: number
  /** Undefined: all of it is text still. */
  members: Members | undefined
  /** It has a member that is taken apart itself, and ends at `from`. */
  isBehindMember: boolean
  key: string
}

/**
 * What `parse` makes of JSON in UTF-8, some ten thousand bytes a turn of the event loop: lists and objects that are
 * longer are taken apart at their commas. Only slices of it ever become text, which the heap's nursery forgets: one of
 * megabytes for each reply stays until the whole heap is collected.
 */
export async function parseInSlices(given: Uint8Array, options: ParseOptions): Promise<unknown> {
  const { turns, parse, refuse, maxDepth, maxItems } = options
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength)
  const { length } = bytes
  const open: Open[] = []
  let items = 0
  /** Up to where it is parsed, about. */
  let taken = 0

  // What separates members is ASCII: no character is ever cut.
  const textOf = (from: number, to: number): string => bytes.toString('utf8', from, to)

  function isBlank(from: number, to: number): boolean {
    for (let at = from; at < to; at++) if (!BLANKS.has(bytes[at] as number)) return false
    return true
  }

  /** Puts complete members, which end at `to`, to the others. */
  function take(taker: Open, to: number): void {
    const { isList, from, start, members, isBehindMember } = taker
    if (isBlank(from, to)) {
      if (!isBehindMember && (from !== start || bytes[to] === COMMA_BYTE)) throw noJson(to)
      taker.members ??= isList ? [] : {}
    } else if (isBehindMember) throw noJson(from)
    else {
      const part = parse(isList ? `[${textOf(from, to)}]` : `{${textOf(from, to)}}`) as Members
      if (!members) taker.members = part
      else if (Array.isArray(members)) for (const item of part as unknown[]) members.push(item)
      else for (const [key, value] of Object.entries(part)) put(members, key, value)
    }
    taker.isBehindMember = false
  }

  /** Takes apart what the innermost one is in: each with all members but the one that is open. */
  function takeApart(): void {
    for (const [index, inner] of open.entries()) {
      if (inner.members) continue
      const outer = open[index - 1]
      const at = inner.start - 1
      if (!outer) {
        if (!isBlank(0, at)) throw noJson(0)
        continue
      }
      if (outer.last > outer.from || outer.members === undefined) takeBefore(outer)
      const before = textOf(outer.last, at)
      if (outer.isList) {
        if (!isBlank(outer.last, at)) throw noJson(at)
      } else {
        const name = /^[ \t\r\n]*("[^]*")[ \t\r\n]*:[ \t\r\n]*$/.exec(before)?.[1]
        if (name === undefined) throw noJson(at)
        outer.key = JSON.parse(name) as string
      }
      inner.members = inner.isList ? [] : {}
    }
  }

  function takeBefore(outer: Open): void {
    if (outer.last === outer.start) outer.members ??= outer.isList ? [] : {}
    else take(outer, outer.last - 1)
    outer.from = outer.last
  }

  /** The value, when it was the outermost. */
  function close(closing: Open, at: number): Members | undefined {
    take(closing, at)
    const outer = open.at(-1)
    const value = closing.members as Members
    if (!outer) return value
    if (Array.isArray(outer.members)) outer.members.push(value)
    else put(outer.members as Record<string, unknown>, outer.key, value)
    outer.from = at + 1
    outer.isBehindMember = true
    return undefined
  }

  let next = 0
  let whole: Members | undefined

  /** Up to the end of a slice, or of the text; not in an async function, whose loops V8 does not optimise. */
  function readSlice(): void {
    for (let index = next; index < length; index++) {
      switch (kindOf[bytes[index] as number]) {
        case TEXT:
          index = endOfText(bytes, index)
          break
        case COMMA: {
          if (++items > maxItems) throw refuse('maxItems')
          const inner = open.at(-1)
          if (!inner) throw noJson(index)
          const isSlice = index - taken > SLICE_BYTES
          if (isSlice) {
            takeApart()
            taken = index
          }
          if (isSlice || inner.isBehindMember) {
            take(inner, index)
            inner.from = index + 1
          }
          inner.last = index + 1
          if (!isSlice) break
          next = index + 1
          return
        }
        case OPEN: {
          if (open.length >= maxDepth) throw refuse('maxDepth')
          if (++items > maxItems) throw refuse('maxItems')
          const [start, isList] = [index + 1, bytes[index] === LIST_START]
          open.push({
            isList,
            start,
            from: start,
            last: start,
            members: undefined,
            isBehindMember: false,
            key: '',
          })
          break
        }
        case CLOSE: {
          const closing = open.pop()
          if (!closing || closing.isList !== (bytes[index] === LIST_END)) throw noJson(index)
          const value = closing.members && close(closing, index)
          if (value && !isBlank(index + 1, length)) throw noJson(index + 1)
          if (value) {
            whole = value
            next = length
            return
          }
        }
      }
    }
    next = length
  }

  for (;;) {
    readSlice()
    if (next === length) break
    await turns.next()
  }
  if (whole) return whole
  if (open.length > 0) throw noJson(length)
  return parse(textOf(0, length))
}

function put(members: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') members[key] = value
  else Object.defineProperty(members, key, { value, enumerable: true, configurable: true, writable: true })
}

function noJson(at: number): SyntaxError {
  return new SyntaxError(`no JSON at position ${at}`)
}
