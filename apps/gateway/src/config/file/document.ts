import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type * as YamlModule from 'yaml'
import type { Document, Node, Scalar } from 'yaml'
import { ConfigError, firstLine, messageOf } from '../../errors.ts'
import { isWritten } from './specification-names.ts'

/** What an escape of a quoted text stands for that is blank, or nothing. */
const BLANK_ESCAPE = /^\\[\s_ abefnrtvLNP]/

/**
 * Where in a file the character stands that is at `offset` of a text of YAML or JSON. However a text is written, blanks apart
 * its characters are there in their order.
 */
function offsetInText(file: string, { type, value, range }: Scalar<string>, offset: number): number {
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

/** A config file of data. */
export interface ConfigDocument {
  readonly file: string
  readonly data: unknown
  /** Finds out where what it holds stands. */
  places(): Promise<Locate>
}

/**
 * Finds the place of the value at a path, of its name, or of a character of its text; for a path that leads too far, of the
 * end that is there.
 */
export type Locate = (path: readonly PropertyKey[], isName?: boolean, offset?: number) => Place

export interface Place {
  /** `file:line:column`, both from 1. */
  readonly at: string
  readonly offset: number
  /** How many parts of the path are there. */
  readonly depth: number
  /** The text that stands there, if it is one. */
  readonly text?: string | undefined
}

/** Reads YAML or JSON. Throws {@link ConfigError}, which names the place, for what is neither. */
export async function readConfigDocument(file: string): Promise<ConfigDocument> {
  const text = decode(await readFile(file))
  // JSON is YAML too, but its parser is loaded only to say where a mistake is.
  const parse = async (): Promise<Source> => {
    const yaml = await import('yaml')
    return { yaml, document: documentOf(yaml, file, text), file, text }
  }
  const places = async (): Promise<Locate> => {
    const source = await parse()
    return (path, isName, inside) => locate(source, path, isName, inside)
  }
  if (extname(file) === '.json') return { file, data: parseJson(text, file), places }
  return { file, data: toData(await parse()), places }
}

/** UTF-8, or UTF-16 where a mark says so: editors and shells of Windows write both. Without the mark. */
function decode(bytes: Uint8Array): string {
  const [first, second] = bytes
  const encoding =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
  return new TextDecoder(encoding).decode(bytes)
}

type Yaml = typeof YamlModule

interface Source {
  readonly yaml: Yaml
  readonly document: Document.Parsed
  readonly file: string
  readonly text: string
}

function placeOf(offset: number, file: string, text: string): string {
  const lines = text.slice(0, offset).split('\n')
  return `${file}:${lines.length}:${(lines.at(-1) ?? '').length + 1}`
}

/** The one document of a file. A `---` without anything behind it begins none. */
function documentOf(yaml: Yaml, file: string, text: string): Document.Parsed {
  const all = [...yaml.parseAllDocuments(text, { prettyErrors: false, merge: true })] as Document.Parsed[]
  const [first, second] = all.filter(
    ({ contents, errors }) => errors.length > 0 || (yaml.isScalar(contents) ? contents.source : contents),
  )
  if (second && first?.errors.length === 0) {
    const begin = (second.contents ?? second).range?.[0] ?? 0
    throw new ConfigError(
      `${placeOf(begin, file, text)}: a second YAML document starts here, but a config must be a single document; ` +
        'remove the "---", or move the second document to another file and add that file to extends',
    )
  }
  return first ?? all[0] ?? yaml.parseDocument(text)
}

function toData(source: Source): unknown {
  const { yaml, document, file, text } = source
  const fail = (offset: number, what: string): never => {
    throw new ConfigError(`${placeOf(offset, file, text)}: ${what}`)
  }
  const variable = document.errors.find(({ pos: [at] }) => text.slice(at - 1, at + 1) === '${')
  if (variable)
    fail(
      variable.pos[0] - 1,
      'environment variables inside { } or [ ] must be quoted, for example "${NAME}" or "${NAME:-default}"',
    )
  // The first mistake is reported alone, as the others are mostly its consequences.
  for (const { pos, message } of document.errors) fail(pos[0], firstLine(message))
  for (const { pos, message } of document.warnings) fail(pos[0], `${firstLine(message)}; write a plain value`)
  yaml.visit(document, {
    Alias(_, alias, above) {
      const [offset = 0] = alias.range ?? []
      const anchored = alias.resolve(document)
      if (!anchored)
        fail(
          offset,
          `the alias *${alias.source} has no anchor &${alias.source} above it; define the anchor first`,
        )
      if (anchored && above.includes(anchored))
        fail(
          offset,
          `the alias *${alias.source} refers to a value that contains this alias; replace the alias with a plain value`,
        )
    },
  })
  try {
    return document.toJS()
  } catch (error) {
    // A merge of what is no map, or aliases that stand for more than any config.
    return fail(0, firstLine(messageOf(error)))
  }
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const message = firstLine(messageOf(error))
    const offset = Number(/at position (\d+)/.exec(message)?.[1] ?? text.trimEnd().length)
    const what = message.replace(/ \(line \d+ column \d+\)$/, '')
    throw new ConfigError(`${placeOf(offset, file, text)}: ${what}`, { cause: error })
  }
}

function locate(
  source: Source,
  path: readonly PropertyKey[],
  isName: boolean | undefined,
  inside: number | undefined,
): Place {
  const { yaml, document, file, text } = source
  const resolved: Resolve = (given) =>
    (yaml.isAlias(given) ? given.resolve(document) : (given ?? undefined)) as Node | undefined
  let node = resolved(document.contents)
  let offset = node?.range?.[0] ?? 0
  let depth = 0
  for (const part of path) {
    const [key, value] = memberOf(yaml, resolved, node, part)
    if (key === undefined && value === undefined) break
    depth += 1
    const isLast = depth === path.length
    const shown =
      isLast && isName === true && inside === undefined ? (key ?? value) : value?.range ? value : key
    offset = shown?.range?.[0] ?? offset
    node = resolved(value)
  }
  // A path that leads too far ends at what the value is missing in, whose text is not the value's.
  const written = depth === path.length && yaml.isScalar(node) ? String(node.value) : undefined
  if (inside !== undefined && written !== undefined && yaml.isScalar(node))
    offset = offsetInText(text, node as Scalar<string>, inside)
  return { at: placeOf(offset, file, text), offset, depth, text: written }
}

type Resolve = (given: unknown) => Node | undefined
type Member = readonly [key: Node | undefined, value: Node | undefined]

function memberOf(yaml: Yaml, resolved: Resolve, node: Node | undefined, part: PropertyKey): Member {
  if (yaml.isSeq(node)) return [undefined, node.items[Number(part)] as Node | undefined]
  if (!yaml.isMap(node)) return [undefined, undefined]
  const nameOf = (key: unknown): string => String(yaml.isScalar(key) ? (key.source ?? key.value) : key)
  const pair =
    node.items.find(({ key }) => nameOf(key) === String(part)) ??
    node.items.find(({ key }) => isWritten(nameOf(key), String(part)))
  if (pair)
    return [(pair.key ?? undefined) as Node | undefined, (pair.value ?? undefined) as Node | undefined]
  // A map may have what it lacks from the maps that it merges.
  for (const { value } of node.items.filter(({ key }) => nameOf(key) === '<<')) {
    const merged = resolved(value)
    for (const source of yaml.isSeq(merged) ? merged.items : [merged]) {
      const found = memberOf(yaml, resolved, resolved(source), part)
      if (found.some((one) => one !== undefined)) return found
    }
  }
  return [undefined, undefined]
}
