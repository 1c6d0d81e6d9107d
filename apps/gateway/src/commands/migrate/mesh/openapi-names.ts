import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isRecord } from '@vinyasa/base'
import { parse } from 'yaml'
import { messageOf } from '../../../errors.ts'
import { Unsaid, type Values } from '../migration.ts'

/** The names that clients of Mesh know, where they are others than ours. */
export interface OpenApiNames {
  /** Of fields, by operation id or `GET /path`. */
  readonly fields: Readonly<Record<string, string>>
  /** Operations that are queries, as `asQuery` names them. */
  readonly queries: readonly string[]
  /** Of types and of values of enums, by their coordinates. */
  readonly rename: Readonly<Record<string, string>>
  /** Where the document has integers without a format. */
  readonly integers: 'int' | undefined
  /** Integers of 64 bits are among the types. */
  readonly hasLong: boolean
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const

/**
 * Mesh leaves names as they are, but for what GraphQL does not allow: operation ids, else path and method with underscores
 * (`jokes_by_id`, `post_jokes`); names of schemas, `_Input` behind those that are sent; values of enums. A name with signs that
 * are no separators keeps ours. Throws {@link Unsaid} where the document cannot be read.
 */
export async function meshOpenApiNames(
  file: string,
  asQuery: readonly string[],
  directory: string,
): Promise<OpenApiNames> {
  const { importOpenApi } = await import('@vinyasa/rest-connector')
  const path = resolve(directory, file)
  try {
    const wanted = fieldsIn(parse(await readFile(path, 'utf8')) as unknown)
    // They are named as clients know them.
    const queries = asQuery.map((name) => Object.keys(wanted).find((key) => wanted[key] === name) ?? name)
    const options = { asQuery: queries, env: {} }
    const ours = await importOpenApi(path, options)
    // Types without a name of their own have it of operations.
    const { types, typeNames, ...theirs } = await importOpenApi(path, {
      ...options,
      integers: 'int',
      rename: wanted,
    })
    const own = new Set(ours.endpoints.map(({ name }) => name))
    const kept = new Set(theirs.endpoints.map(({ name }) => name).filter((name) => !own.has(name)))
    const rename: Record<string, string> = {}
    for (const [schema, name] of Object.entries(typeNames)) put(rename, name, nameOf(schema))
    for (const [type, definition] of Object.entries(types)) {
      if (definition.kind === 'input' && type.endsWith('Input'))
        put(rename, type, `${rename[type.slice(0, -5)] ?? type.slice(0, -5)}_Input`)
      if (definition.kind !== 'enum') continue
      const names = Object.entries(definition.values).map(
        ([name, { value }]) => [name, nameOf(String(value))] as const,
      )
      if (new Set(names.map(([, name]) => name)).size < names.length) continue
      for (const [name, mesh] of names) put(rename, `${type}.${name}`, mesh)
    }
    const longs = longsIn(types, theirs.endpoints)
    return {
      fields: Object.fromEntries(Object.entries(wanted).filter(([, name]) => kept.has(name))),
      queries,
      rename,
      integers: longs < longsIn(ours.types, ours.endpoints) ? 'int' : undefined,
      hasLong: longs > 0,
    }
  } catch (error) {
    throw new Unsaid(messageOf(error))
  }
}

function longsIn(...parts: readonly object[]): number {
  return JSON.stringify(parts).match(/"\[*Long[\]!]*"/g)?.length ?? 0
}

function put(rename: Record<string, string>, coordinate: string, name: string | undefined): void {
  if (name !== undefined && name !== coordinate.split('.').at(-1)) rename[coordinate] = name
}

function fieldsIn(document: unknown): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [path, item] of entriesOf(document, 'paths'))
    for (const method of METHODS) {
      const operation = isRecord(item) ? item[method] : undefined
      if (!isRecord(operation)) continue
      const id = operation['operationId']
      const name = typeof id === 'string' ? nameOf(id) : nameOf(byPath(path, method, operation))
      if (name !== undefined) found[typeof id === 'string' ? id : `${method.toUpperCase()} ${path}`] = name
    }
  return found
}

/** `GET /jokes/{id}` is `jokes_by_id`; a path that names nothing has the type of its answer before it. */
function byPath(path: string, method: string, operation: Values): string {
  const words = path.replaceAll('{', 'by_').replaceAll('}', '').split('/').filter(Boolean)
  let name = words.join('_')
  if (name === '' || name.startsWith('by')) {
    const type = answerOf(operation)
    if (type !== undefined)
      name = [type.charAt(0).toLowerCase() + type.slice(1), name].filter(Boolean).join('_')
  }
  name = name.replace(/^by_/, '')
  return method === 'get' ? name : [method, name].filter(Boolean).join('_')
}

/** The name of the schema of the first answer. */
function answerOf(operation: Values): string | undefined {
  const [[, answer] = []] = entriesOf(operation, 'responses')
  const [[, content] = []] = entriesOf(answer, 'content')
  const schema = isRecord(content) ? content['schema'] : isRecord(answer) ? answer['schema'] : undefined
  const reference = isRecord(schema) ? schema['$ref'] : undefined
  return typeof reference === 'string' ? reference.split('/').at(-1) : undefined
}

function entriesOf(value: unknown, key: string): [string, unknown][] {
  const within = isRecord(value) ? value[key] : undefined
  return isRecord(within) ? Object.entries(within) : []
}

/** The text with underscores for separators; undefined: it has other signs, or is no name even so. */
function nameOf(text: string): string | undefined {
  if (!/^\w[\w ./:-]*$/.test(text)) return undefined
  const name = text.replaceAll(/[ ./:-]/g, '_').replace(/^(?=\d)/, '_')
  return name.startsWith('__') || /^(?:true|false|null)$/.test(name) ? undefined : name
}
