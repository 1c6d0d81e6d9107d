/**
 * Words of a name: split at whatever a name cannot hold, at underscores too. Latin letters lose their accents, others
 * are told by their code points (`名` gives `U540d`); signs are words where there is no letter (`+1` gives `plus` and `1`).
 */
export function wordsOf(text: string): readonly string[] {
  return asciiOf(text)
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
}

function asciiOf(text: string): string {
  if (/^[ -~]*$/.test(text) && /[A-Za-z]/.test(text)) return text
  const plain = text
    .normalize('NFKD')
    .replaceAll(/([A-Za-z])\p{M}+/gu, '$1')
    .normalize('NFC')
  const isSpelled = plain === '' || /\p{L}/u.test(plain)
  return (isSpelled ? plain : constantName(text).toLowerCase()).replaceAll(
    /(?!\w)[\p{L}\p{N}]/gu,
    (letter) => ` U${letter.codePointAt(0)?.toString(16)} `,
  )
}

/** `nullable-simple_user` gives `NullableSimpleUser`; capitals stay. */
export function pascal(text: string): string {
  return wordsOf(text).map(capitalize).join('')
}

/** `repos/get-content` gives `reposGetContent`, `GetUser` gives `getUser`. */
export function camel(text: string): string {
  // All of a leading abbreviation goes down: `IAMPolicy` gives `iamPolicy`.
  return pascal(text).replace(/^[A-Z]+(?=[A-Z][a-z]|[^A-Za-z]|$)|^[A-Z]/, (start) => start.toLowerCase())
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The text as a GraphQL name: as it is where that is one, else in camel case. */
export function toFieldName(text: string): string {
  return isName(text) ? text : legal(camel(text))
}

/** Makes a name of letters and digits one that GraphQL allows. */
export function legal(text: string): string {
  if (isName(text)) return text
  return `_${text.replaceAll(/[^A-Za-z0-9_]/g, '').replace(/^_+/, '')}`
}

export function isName(text: string): boolean {
  return /^(?!__)[A-Za-z_]\w*$/.test(text)
}

/** The name, or, where it is used, with the first number behind it, from 2 on, with which it is not. */
export function freeName(wanted: string, isUsed: (name: string) => boolean, joint = ''): string {
  let name = wanted
  for (let number = 2; isUsed(name); number++) name = `${wanted}${joint}${number}`
  return name
}

/** Gives every text a field name of its own; those that are names already keep them. */
export function fieldNames(texts: readonly string[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  const used = new Set(texts.filter(isName))
  for (const text of texts) {
    const wanted = toFieldName(text)
    const name = wanted === text ? text : freeName(wanted, (one) => used.has(one))
    used.add(name)
    names.set(text, name)
  }
  return names
}

/** A name that another of the same document has. */
export interface GaveWay {
  readonly wanted: string
  readonly owner: string
}

/** The names among these that others of the document have. */
export function passedOver(
  names: readonly string[],
  owners: ReadonlyMap<string, string>,
): readonly GaveWay[] {
  return [...new Set(names)].flatMap((wanted) => {
    const owner = owners.get(wanted)
    return owner === undefined ? [] : [{ wanted, owner }]
  })
}

const SIGNS: Readonly<Record<string, string>> = {
  '+': 'PLUS',
  '*': 'STAR',
  '<': 'LT',
  '>': 'GT',
  '=': 'EQ',
  '!': 'NOT',
  '%': 'PERCENT',
  '&': 'AND',
  '|': 'OR',
  $: 'DOLLAR',
  '@': 'AT',
  '#': 'HASH',
}

/** `in-progress` gives `IN_PROGRESS`, `+1` `PLUS_1`, `-1` `MINUS_1`, `createdAt` `CREATED_AT`. */
export function constantName(value: string | number | boolean): string {
  const text = String(value)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    // A minus stands before a number, not between words.
    .replaceAll(/(^|[^A-Za-z0-9])-(?=\d)/g, '$1_MINUS_')
    .replaceAll(/[+*<>=!%&|$@#]/g, (sign) => `_${SIGNS[sign]}_`)
    .replaceAll(/[^\u0000-\u007f]/gu, (letter) => `_U${letter.codePointAt(0)?.toString(16)}_`) // oxlint-disable-line no-control-regex
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toUpperCase()
  if (text === '') return value === '' ? 'EMPTY' : 'BLANK'
  return /^\d/.test(text) ? `_${text}` : text
}
