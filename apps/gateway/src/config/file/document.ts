import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type * as YamlModule from 'yaml'
import type { Document, Node } from 'yaml'
import { ConfigError, messageOf } from '../../errors.ts'
import { isWritten } from './specification-names.ts'

/** A config file of data. */
export interface ConfigDocument {
  readonly file: string
  readonly data: unknown
  /** Finds out where what it holds stands. */
  places(): Promise<Locate>
}

/** Where the value at a path stands, or its name; of a path that leads too far the end that is there. */
export type Locate = (path: readonly PropertyKey[], isName?: boolean) => Place

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
  const text = await readFile(file, 'utf8')
  // JSON is YAML too, but its parser is loaded only to say where a mistake is.
  const parse = async (): Promise<[Yaml, Document.Parsed]> => {
    const yaml = await import('yaml')
    return [yaml, yaml.parseDocument(text, { prettyErrors: false })]
  }
  const places = async (): Promise<Locate> => {
    const [yaml, document] = await parse()
    return (path, isName) => locate({ yaml, document, file, text }, path, isName)
  }
  if (extname(file) === '.json') return { file, data: parseJson(text, file), places }
  const [, document] = await parse()
  return { file, data: toData(document, file, text), places }
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

function toData(document: Document.Parsed, file: string, text: string): unknown {
  // Those behind the first one are mostly its consequences.
  const [error] = document.errors
  if (error) throw new ConfigError(`${placeOf(error.pos[0], file, text)}: ${firstLine(error.message)}`)
  try {
    return document.toJS()
  } catch (error) {
    // An alias without its anchor, or too many of them.
    throw new ConfigError(`${file}: ${firstLine(messageOf(error))}`, { cause: error })
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

function locate(source: Source, path: readonly PropertyKey[], isName: boolean | undefined): Place {
  const { yaml, document, file, text } = source
  const resolved = (given: unknown): Node | undefined =>
    (yaml.isAlias(given) ? given.resolve(document) : (given ?? undefined)) as Node | undefined
  let node = resolved(document.contents)
  let offset = node?.range?.[0] ?? 0
  let depth = 0
  for (const part of path) {
    const [key, value] = memberOf(yaml, node, part)
    if (key === undefined && value === undefined) break
    depth += 1
    const isLast = depth === path.length
    const shown = isLast && isName === true ? (key ?? value) : value?.range ? value : key
    offset = shown?.range?.[0] ?? offset
    node = resolved(value)
  }
  // What is missing is missing in something that has a name.
  const written = depth === path.length && yaml.isScalar(node) ? String(node.value) : undefined
  return { at: placeOf(offset, file, text), offset, depth, text: written }
}

type Member = readonly [key: Node | undefined, value: Node | undefined]

function memberOf({ isMap, isScalar, isSeq }: Yaml, node: Node | undefined, part: PropertyKey): Member {
  if (isSeq(node)) return [undefined, node.items[Number(part)] as Node | undefined]
  if (!isMap(node)) return [undefined, undefined]
  const nameOf = (key: unknown): string => String(isScalar(key) ? key.value : key)
  const pair =
    node.items.find(({ key }) => nameOf(key) === String(part)) ??
    node.items.find(({ key }) => isWritten(nameOf(key), String(part)))
  return [(pair?.key ?? undefined) as Node | undefined, (pair?.value ?? undefined) as Node | undefined]
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? text
}
