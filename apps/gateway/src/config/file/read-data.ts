import { isPlainObject } from '@vinyasa/core'
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ConfigError, messageOf } from '../../errors.ts'
import type { GatewayConfig } from '../types.ts'
import { isDataFile } from './data-file.ts'
import type { Mistake } from './describe-issue.ts'
import { readConfigDocument, type ConfigDocument, type Locate, type Place } from './document.ts'
import { substituteEnvironment, textOf, type Environment } from './environment.ts'
import { formatMistake, validateData } from './parse-config.ts'

export interface DataRead {
  readonly config: GatewayConfig
  /** The file and those that it extends. */
  readonly files: readonly string[]
  /** Finds where in them a setting stands: `file:line:column`. */
  readonly placeOf: PlaceOf
}

/** `isName`: of its name, not of its value. `offset`: of this character of its text. */
export type PlaceOf = (path: readonly PropertyKey[], isName?: boolean, offset?: number) => Promise<string>

/**
 * Reads a config of YAML or JSON and those that it `extends`, which come first: objects are merged, all else is replaced.
 * Throws {@link ConfigError}: a line for each mistake, with its file, line and column.
 */
export async function readData(file: string, environment: Environment): Promise<DataRead> {
  const files = new Set<string>()
  try {
    return { ...(await readConfig(file, environment, files)), files: [...files] }
  } catch (error) {
    throw new ConfigError(messageOf(error), { cause: error, files: [...files] })
  }
}

async function readConfig(
  file: string,
  environment: Environment,
  files: Set<string>,
): Promise<Omit<DataRead, 'files'>> {
  const documents = await readWithBases(file, { environment, files }, [])
  const unset: [ConfigDocument, Mistake][] = []
  const merged = documents
    .map((document) =>
      substituteEnvironment(ownSettings(document.data), environment, (one) => unset.push([document, one])),
    )
    .reduce(merge)
  // A variable that is not set says why a value is none.
  if (unset.length > 0) throw new ConfigError((await Promise.all(unset.map(describeVariable))).join('\n'))
  if (merged === null || merged === undefined)
    throw new ConfigError(`${file}:1:1: the file has no settings; \`vinyasa init\` creates a config`)
  const { config, mistakes } = validateData(merged)
  if (config === undefined) throw new ConfigError((await describe(mistakes, documents)).join('\n'))
  return {
    config,
    placeOf: async (path, isName, offset) => placeIn(await locatorsOf(documents), path, isName, offset).at,
  }
}

/** The documents that a file extends, and then its own. */
async function readWithBases(
  file: string,
  reading: { readonly environment: Environment; readonly files: Set<string> },
  above: readonly string[],
): Promise<readonly ConfigDocument[]> {
  const document = await readConfigDocument(file)
  const { extends: named = [] } = Object(document.data) as { readonly extends?: unknown }
  const bases: ConfigDocument[] = []
  for (const given of [named].flat()) {
    const { at } = (await document.places())(['extends'])
    const name = textOf(
      substituteEnvironment(given, reading.environment, ({ text }) => {
        throw new ConfigError(`${at}: extends: ${text}`)
      }),
    )
    if (typeof name !== 'string')
      throw new ConfigError(`${at}: extends: expected a file name or a list of file names`)
    const base = resolve(dirname(file), name)
    if (!isDataFile(base))
      throw new ConfigError(`${at}: extends: expected a .yaml, .yml or .json file, got "${name}"`)
    // It may be there later.
    reading.files.add(base)
    if (!existsSync(base)) throw new ConfigError(`${at}: extends: ${base}: no such file`)
    if (base === file)
      throw new ConfigError(`${at}: extends: the file extends itself; remove ${name} from extends`)
    if (above.includes(base))
      throw new ConfigError(
        `${at}: extends: ${name} also extends this file, directly or through other files; remove one of the extends entries`,
      )
    bases.push(...(await readWithBases(base, reading, [...above, file])))
  }
  reading.files.delete(file)
  reading.files.add(file)
  return [...bases, document]
}

/** Without what it extends, and what stands under `x-…`, where files keep what they have anchors on. */
function ownSettings(data: unknown): unknown {
  if (!isPlainObject(data)) return data
  const own = Object.entries(data).filter(([key]) => key !== 'extends' && !key.startsWith('x-'))
  return Object.fromEntries(own)
}

/** Objects are merged, all else is replaced. */
export function merge(base: unknown, over: unknown): unknown {
  // A file in which all is commented out.
  if (over === null || over === undefined) return base
  if (!isPlainObject(base) || !isPlainObject(over)) return over
  const merged = new Map(Object.entries(base))
  for (const [key, value] of Object.entries(over)) {
    merged.set(key, merged.has(key) ? merge(merged.get(key), value) : value)
  }
  return Object.fromEntries(merged)
}

async function describeVariable([document, mistake]: [ConfigDocument, Mistake]): Promise<string> {
  const { at } = (await document.places())(mistake.path, mistake.isName)
  return `${at}: ${formatMistake(mistake)}`
}

/**
 * Describes mistakes in the order of the files, each in the one that has the most of its path; of several
 * such files, in the one merged last.
 */
async function describe(
  mistakes: readonly Mistake[],
  documents: readonly ConfigDocument[],
): Promise<readonly string[]> {
  const located = await locatorsOf(documents)
  const placed = mistakes.map((mistake) => ({
    mistake,
    place: placeIn(located, mistake.path, mistake.isName),
  }))
  placed.sort((a, b) => a.place.index - b.place.index || a.place.offset - b.place.offset)
  return placed.map(({ mistake, place }) => {
    const variables = mistake.isName ? [] : (place.text?.match(/\$\{\w+/g) ?? [])
    const of = variables.length > 0 ? ` (in ${variables.map((name) => `${name}}`).join(', ')})` : ''
    return `${place.at}: ${formatMistake(mistake)}${of}${wordMeant(mistake, place.text)}`
  })
}

function locatorsOf(documents: readonly ConfigDocument[]): Promise<readonly Locate[]> {
  return Promise.all(documents.map((document) => document.places()))
}

/** The place in the file that has the most of a path; of several, in the one merged last. */
function placeIn(
  located: readonly Locate[],
  path: readonly PropertyKey[],
  isName: boolean | undefined,
  offset?: number,
): Place & { readonly index: number } {
  const places = located.map((locate, index) => ({ ...locate(path, isName, offset), index }))
  return places.reduce((best, next) => (next.depth >= best.depth ? next : best))
}

/** Words of YAML 1.1 are texts in YAML 1.2. */
function wordMeant({ text }: Mistake, written = ''): string {
  if (!text.includes('expected boolean') || !/^(yes|no|on|off)$/i.test(written)) return ''
  return `; "${written}" is a string, write ${/^(yes|on)$/i.test(written)}`
}
