import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type Node } from 'yaml'
import { ConfigError, messageOf } from '../../errors.ts'
import { isWritten } from './specification-names.ts'

/** A config file of data, with the places of what it holds. */
export interface ConfigDocument {
  readonly file: string
  readonly data: unknown
  /** Where the value at a path stands, or its name; of a path that leads too far the end that is there. */
  locate(path: readonly PropertyKey[], isName?: boolean): Place
}

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
  const lines = new LineCounter()
  const isJson = extname(file) === '.json'
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset)
    return `${file}:${Math.max(1, line)}:${Math.max(1, col)}`
  }
  const data = isJson ? parseJson(text, at) : toData(document, file, at)
  return { file, data, locate: (path, isName) => locate(document, path, isName, at) }
}

type At = (offset: number) => string

function toData(document: Document, file: string, at: At): unknown {
  // Those behind the first one are mostly its consequences.
  const [error] = document.errors
  if (error) throw new ConfigError(`${at(error.pos[0])}: ${firstLine(error.message)}`)
  try {
    return document.toJS()
  } catch (error) {
    // An alias without its anchor, or too many of them.
    throw new ConfigError(`${file}: ${firstLine(messageOf(error))}`, { cause: error })
  }
}

function parseJson(text: string, at: At): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const message = firstLine(messageOf(error))
    const offset = Number(/at position (\d+)/.exec(message)?.[1] ?? text.trimEnd().length)
    throw new ConfigError(`${at(offset)}: ${message.replace(/ \(line \d+ column \d+\)$/, '')}`, {
      cause: error,
    })
  }
}

function locate(
  document: Document,
  path: readonly PropertyKey[],
  isName: boolean | undefined,
  at: At,
): Place {
  let node = resolved(document.contents, document)
  let offset = node?.range?.[0] ?? 0
  let depth = 0
  for (const part of path) {
    const [key, value] = memberOf(node, part)
    if (key === undefined && value === undefined) break
    depth += 1
    const isLast = depth === path.length
    const shown = isLast && isName === true ? (key ?? value) : value?.range ? value : key
    offset = shown?.range?.[0] ?? offset
    node = resolved(value, document)
  }
  // What is missing is missing in something that has a name.
  const text = depth === path.length && isScalar(node) ? String(node.value) : undefined
  return { at: at(offset), offset, depth, text }
}

type Member = readonly [key: Node | undefined, value: Node | undefined]

function memberOf(node: Node | undefined, part: PropertyKey): Member {
  if (isSeq(node)) return [undefined, node.items[Number(part)] as Node | undefined]
  if (!isMap(node)) return [undefined, undefined]
  const nameOf = (key: unknown): string => String(isScalar(key) ? key.value : key)
  const pair =
    node.items.find(({ key }) => nameOf(key) === String(part)) ??
    node.items.find(({ key }) => isWritten(nameOf(key), String(part)))
  return [(pair?.key ?? undefined) as Node | undefined, (pair?.value ?? undefined) as Node | undefined]
}

function resolved(node: unknown, document: Document): Node | undefined {
  if (isAlias(node)) return node.resolve(document)
  return (node ?? undefined) as Node | undefined
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? text
}
