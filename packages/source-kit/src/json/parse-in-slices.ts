import { SLICE_BYTES, type Turns } from '../turns.ts'
import { CLOSE, COMMA, kindOf, OPEN, TEXT, type JsonLimits } from './scan-json.ts'

export interface ParseOptions extends JsonLimits {
  readonly turns: Turns
  /** Parses parts of it, which are lists and objects. */
  readonly parse: (text: string) => unknown
  /** The error for a limit that is exceeded. */
  readonly refuse: (limit: keyof JsonLimits) => Error
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** A text that is longer is left by a search for its end. */
const SHORT_TEXT = 32

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
 * What `parse` makes of JSON text, some ten thousand characters a turn of the event loop: lists and objects that are
 * longer are taken apart at their commas.
 */
export async function parseInSlices(text: string, options: ParseOptions): Promise<unknown> {
  const { turns, parse, refuse, maxDepth, maxItems } = options
  const open: Open[] = []
  let items = 0
  /** Up to where it is parsed, about. */
  let taken = 0

  const isBlank = (from: number, to: number): boolean => /^[ \t\r\n]*$/.test(text.slice(from, to))

  /** Puts complete members, which end at `to`, to the others. */
  function take(taker: Open, to: number): void {
    const { isList, from, start, members, isBehindMember } = taker
    if (isBlank(from, to)) {
      if (!isBehindMember && (from !== start || text[to] === ',')) throw noJson(to)
      taker.members ??= isList ? [] : {}
    } else if (isBehindMember) throw noJson(from)
    else {
      const part = parse(isList ? `[${text.slice(from, to)}]` : `{${text.slice(from, to)}}`) as Members
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
      const before = text.slice(outer.last, at)
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
    for (let index = next; index < text.length; index++) {
      switch (kindOf[text.charCodeAt(index)]) {
        case TEXT:
          index = endOfText(text, index)
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
          const [start, isList] = [index + 1, text[index] === '[']
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
          if (!closing || closing.isList !== (text[index] === ']')) throw noJson(index)
          const value = closing.members && close(closing, index)
          if (value && !isBlank(index + 1, text.length)) throw noJson(index + 1)
          if (value) {
            whole = value
            next = text.length
            return
          }
        }
      }
    }
    next = text.length
  }

  for (;;) {
    readSlice()
    if (next === text.length) break
    await turns.next()
  }
  if (whole) return whole
  if (open.length > 0) throw noJson(text.length)
  return parse(text)
}

function put(members: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') members[key] = value
  else Object.defineProperty(members, key, { value, enumerable: true, configurable: true, writable: true })
}

function endOfText(text: string, quote: number): number {
  let at = quote + 1
  for (const near = at + SHORT_TEXT; at < near;) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    at += code === BACKSLASH ? 2 : 1
  }
  for (let from = at; ;) {
    const end = text.indexOf('"', from)
    if (end === -1) return text.length
    let escapes = end
    while (escapes > at && text[escapes - 1] === '\\') escapes--
    if ((end - escapes) % 2 === 0) return end
    from = end + 1
  }
}

function noJson(at: number): SyntaxError {
  return new SyntaxError(`no JSON at position ${at}`)
}
