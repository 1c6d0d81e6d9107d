import { badInput, RestConfigError } from '../errors.ts'
import { toJson } from '../json.ts'
import { encodeText, toText } from '../templates/template.ts'
import type { ParameterOptions, ParameterPlace, ParameterStyle } from './parameter-options.ts'

/** The text of a value as it goes on the wire, name included where the style writes it; undefined: nothing is sent. */
export type WriteValue = (value: unknown) => string | undefined

/** How one style writes. Source: OpenAPI 3.2, "Style Values", with RFC 6570 for what its examples leave open. */
interface Style {
  readonly places: readonly ParameterPlace[]
  readonly explode: boolean
  /** Before the value. */
  readonly first: string
  /** Between the parts of an exploded value. */
  readonly between: string
  /** Between the parts of one that is not. */
  readonly joint: string
  /** Whether the name is written, too, and how where the value is empty. */
  readonly named: false | '=' | ''
}

const STYLES: Readonly<Record<ParameterStyle, Style>> = {
  matrix: { places: ['path'], explode: false, first: ';', between: ';', joint: ',', named: '' },
  label: { places: ['path'], explode: false, first: '.', between: '.', joint: ',', named: false },
  simple: { places: ['path', 'header'], explode: false, first: '', between: ',', joint: ',', named: false },
  form: { places: ['query', 'cookie'], explode: true, first: '', between: '&', joint: ',', named: '=' },
  spaceDelimited: { places: ['query'], explode: false, first: '', between: '&', joint: '%20', named: '=' },
  pipeDelimited: { places: ['query'], explode: false, first: '', between: '&', joint: '%7C', named: '=' },
  tabDelimited: { places: ['query'], explode: false, first: '', between: '&', joint: '%09', named: '=' },
  deepObject: { places: ['query'], explode: true, first: '', between: '&', joint: '&', named: '=' },
  cookie: { places: ['cookie'], explode: true, first: '', between: '; ', joint: ',', named: '=' },
}

const DEFAULTS: Readonly<Record<ParameterPlace, ParameterStyle>> = {
  path: 'simple',
  query: 'form',
  header: 'simple',
  cookie: 'form',
}

/** Writes text so that it cannot be taken for `separators`, or refuses it where the place has no way to. */
type Encode = (text: string, separators: string) => string

/** Whether a parameter in this place can have the style. */
export function hasStyle(style: string, place: ParameterPlace): style is ParameterStyle {
  return Object.hasOwn(STYLES, style) && STYLES[style as ParameterStyle].places.includes(place)
}

/** Chooses once how a parameter is written. Throws `RestConfigError` for a style that its place does not have. */
export function compileStyle(parameter: ParameterOptions): WriteValue {
  const { name, in: place, content } = parameter
  const { style = DEFAULTS[place], allowReserved = false } = parameter
  const row = Object.hasOwn(STYLES, style) ? STYLES[style] : undefined
  if (!row?.places.includes(place))
    throw new RestConfigError(
      `parameter "${name}" cannot have the style "${style}" in ${place}; ` +
        `expected one of ${Object.keys(STYLES)
          .filter((one) => STYLES[one as ParameterStyle].places.includes(place))
          .join(', ')}`,
    )
  const encode = encoder(name, place, style, allowReserved)
  if (content !== undefined) return compileContent(name, place, content, encode)
  if (style === 'deepObject') return compileDeep(name, encode)
  // Each value of an exploded list is a cookie of its own, though they have one name.
  const between = place === 'cookie' ? '; ' : row.between
  return compileFlat(name, { ...row, between, explode: parameter.explode ?? row.explode }, encode)
}

function compileFlat(name: string, style: Style, encode: Encode): WriteValue {
  const { first, between, joint, named, explode } = style
  const key = named === false ? '' : encode(name, '=')
  const one = (text: string): string => (named === false ? text : `${key}${text === '' ? named : `=${text}`}`)
  const joined = (parts: readonly string[]): string =>
    `${first}${named === false ? '' : `${key}=`}${parts.map((part) => encode(part, joint)).join(joint)}`
  return (given) => {
    const value = plain(given)
    if (typeof value !== 'object') return first + one(encode(toText(value, name), ''))
    if (Array.isArray(value)) {
      const items = value.filter(isGiven).map((item) => flat(item, name))
      if (items.length === 0) return undefined
      if (!explode) return joined(items)
      return first + items.map((item) => one(encode(item, between))).join(between)
    }
    const members = Object.entries(value ?? {}).filter(([, member]) => isGiven(member))
    const pairs = members.map(([member, item]) => [member, flat(item, name)] as const)
    if (pairs.length === 0) return undefined
    if (!explode) return joined(pairs.flat())
    return (
      first +
      pairs.map(([member, item]) => `${encode(member, `=${between}`)}=${encode(item, between)}`).join(between)
    )
  }
}

function compileDeep(name: string, encode: Encode): WriteValue {
  return (value) => {
    const pairs = deepPairs(name, value).map(([key, text]) => `${encodeText(key, name)}=${encode(text, '&')}`)
    return pairs.length > 0 ? pairs.join('&') : undefined
  }
}

const MAX_DEEP_NAME = 1_000

/** `a[b][c]` and text for each scalar in a value; lists of scalars as `a[]`, others by their places. */
function deepPairs(name: string, given: unknown, depth = 0): [string, string][] {
  const value = plain(given)
  if (!isGiven(value)) return []
  // Each scalar below repeats the name.
  if (depth > 200 || name.length > MAX_DEEP_NAME)
    throw badInput(
      `The query parameter "${name.slice(0, 80)}" is nested more than 200 levels deep, or its name has more than ${MAX_DEEP_NAME} characters.`,
    )
  if (typeof value !== 'object') return [[name, toText(value, name)]]
  if (Array.isArray(value)) {
    const items: unknown[] = value.filter(isGiven)
    const areScalars = items.every((item) => typeof plain(item) !== 'object')
    return items.flatMap((item, index) => deepPairs(`${name}[${areScalars ? '' : index}]`, item, depth + 1))
  }
  return Object.entries(value as object).flatMap(([member, item]) => {
    if (/[[\]]/.test(member)) throw badInput(`A property name in "${name}" must not contain brackets.`)
    return deepPairs(`${name}[${member}]`, item, depth + 1)
  })
}

function compileContent(name: string, place: ParameterPlace, mediaType: string, encode: Encode): WriteValue {
  const isJson = /[/+]json\b/.test(mediaType)
  const prefix = place === 'path' || place === 'header' ? '' : `${encode(name, '=')}=`
  return (value) => {
    const text = isJson ? toJson(value) : toText(plain(value), name)
    // Headers hold Latin-1 only, and JSON can do with less.
    return prefix + encode(isJson && place === 'header' ? asciiJson(text, name) : text, '')
  }
}

/** Servers refuse longer headers. */
const MAX_HEADER_LENGTH = 65_536

function asciiJson(json: string, name: string): string {
  if (json.length > MAX_HEADER_LENGTH)
    throw badInput(`The value for header "${name}" must have at most ${MAX_HEADER_LENGTH} characters.`)
  return json.replace(/[\u007F-\uFFFF]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Reserved characters of RFC 3986, section 2.2 that `encodeURI` leaves: these end a value, the others only as separators. */
const ENDS = ['#', '&', '+']
const RESERVED = [...',/:;=?$@']

function encoder(name: string, place: ParameterPlace, style: ParameterStyle, allowReserved: boolean): Encode {
  if (place === 'header' || style === 'cookie')
    return (text, separators) => {
      const taken = place === 'header' ? separators : `${separators};`
      for (const one of taken.replaceAll(' ', ''))
        if (text.includes(one))
          throw badInput(`The value for "${name}" must not contain "${one}", which is a separator.`)
      return text
    }
  return (text, separators) => {
    const encoded = encodeText(text, name)
    // Percent-encoding would make the separator itself of a space or a bar.
    if (separators.startsWith('%') && encoded.includes(separators))
      throw badInput(
        `The value for "${name}" must not contain "${decodeURIComponent(separators)}", which is a separator.`,
      )
    if (separators.includes('.')) return encoded.replaceAll('.', '%2E')
    if (!allowReserved || place !== 'query') return encoded
    const escaped = [...ENDS, ...RESERVED.filter((one) => separators.includes(one))]
    return escaped.reduce((uri, one) => uri.replaceAll(one, encodeURIComponent(one)), encodeURI(text))
  }
}

/** Text of one item; what has members of its own is JSON. */
function flat(item: unknown, name: string): string {
  const value = plain(item)
  return typeof value === 'object' ? toJson(value) : toText(value, name)
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** Returns what stands for the value in JSON, such as the text of a date. */
export function plain(value: unknown): unknown {
  const hasOwnJson =
    typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function'
  return hasOwnJson ? (value as { toJSON(): unknown }).toJSON() : value
}
