import type { Scalar } from 'yaml'

/** What an escape of a quoted text stands for that is blank, or nothing. */
const BLANK_ESCAPE = /^\\[\s_ abefnrtvLNP]/

/**
 * Where in a file the character stands that is at `offset` of a text of YAML or JSON. However a text is written, blanks apart
 * its characters are there in their order.
 */
export function offsetInText(file: string, { type, value, range }: Scalar<string>, offset: number): number {
  const [begin, end] = range ?? [0, 0]
  // What a variable was replaced by is not there.
  if (value.includes('${')) return begin
  const isQuoted = type === 'QUOTE_DOUBLE' || type === 'QUOTE_SINGLE'
  const isBlock = type === 'BLOCK_LITERAL' || type === 'BLOCK_FOLDED'
  let at = isBlock ? file.indexOf('\n', begin) + 1 : isQuoted ? begin + 1 : begin
  let left = value.slice(0, offset).replaceAll(/\s/g, '').length
  for (;;) {
    const rest = file.slice(at, end)
    const blank = /^\s+/.exec(rest) ?? (type === 'QUOTE_DOUBLE' ? BLANK_ESCAPE.exec(rest) : null)
    if (blank) at += blank[0].length
    else if (left === 0 || rest === '') return at
    else {
      at += lengthOfOne(rest, type)
      left -= 1
    }
  }
}

/** How many characters one of the text is written with. */
function lengthOfOne(rest: string, type: Scalar['type']): number {
  if (type === 'QUOTE_SINGLE') return rest.startsWith("''") ? 2 : 1
  if (type !== 'QUOTE_DOUBLE') return 1
  return (/^\\(?:x.{2}|u.{4}|U.{8}|.)/.exec(rest) ?? [' '])[0].length
}
