import { z } from 'zod'
import { definitionOf, type Definition } from '../definition.ts'
import { FromEnvironment, textOf, typedFor } from './environment.ts'

/**
 * The specification writes its settings in snake_case; they are accepted under those very names. Durations may be
 * written as the specification speaks of them (`timeout: 30s`).
 */
const DURATIONS: ReadonlyMap<string, string> = new Map([
  ['timeout', 'timeoutMs'],
  ['default_ttl', 'defaultTtlMs'],
  ['stale_while_revalidate', 'staleWhileRevalidateMs'],
  ['initial_backoff', 'initialBackoffMs'],
  ['max_backoff', 'maxBackoffMs'],
])

const RENAMED: ReadonlyMap<string, string> = new Map([
  ['default_header', 'defaultHeaders'],
  ['header', 'headers'],
  ['query_param', 'queryParams'],
])

const DURATION = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)$/
const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** The other names under which a setting may be written, and whether it is a duration there (`30s`). */
export function otherNames(
  setting: string,
): readonly { readonly name: string; readonly isDuration: boolean }[] {
  const snake = toSnakeCase(setting)
  return [
    ...(snake === setting ? [] : [{ name: snake, isDuration: false }]),
    ...[...RENAMED].flatMap(([name, own]) => (own === setting ? [{ name, isDuration: false }] : [])),
    ...[...DURATIONS].flatMap(([name, own]) => (own === setting ? [{ name, isDuration: true }] : [])),
  ]
}

/** Whether a key as it is written is another name of a setting. */
export function isWritten(key: string, setting: string): boolean {
  return toCamelCase(key) === setting || RENAMED.get(key) === setting || DURATIONS.get(key) === setting
}

/**
 * Renames the specification's settings to those of the schema, wherever the schema has such a setting. All other keys
 * stay as they are: those of maps are data (headers, query parameters, types), and unknown ones are for the validation
 * to report as they were written.
 */
export function withSettingNames(value: unknown, schema: unknown): unknown {
  if (value instanceof FromEnvironment) return typedFor(value, schema)
  if (value === null || typeof value !== 'object') return value
  const definition = fitting(value, schema)
  if (Array.isArray(value))
    return definition?.element ? value.map((item) => withSettingNames(item, definition.element)) : value
  if (!definition) return value
  const { shape, valueType } = definition
  if (shape) return settingsNamed(value as Readonly<Record<string, unknown>>, shape)
  if (!valueType) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withSettingNames(item, valueType)]),
  )
}

/** The alternative that a list or an object is meant for; of several objects the one whose literals it has. */
function fitting(value: unknown, schema: unknown): Definition | undefined {
  const definition = definitionOf(schema)
  if (!definition?.options) return definition
  const options = definition.options.map((option) => fitting(value, option))
  if (Array.isArray(value)) return options.find((option) => option?.element)
  const objects = options.filter((option) => option?.shape ?? option?.valueType)
  if (objects.length < 2) return objects[0]
  return objects.find((option) => hasLiterals(value, option?.shape)) ?? objects[0]
}

function hasLiterals(value: unknown, shape: Definition['shape'] = {}): boolean {
  return Object.entries(shape).every(([key, member]) => {
    const { values } = definitionOf(member) ?? {}
    return !values || values.includes(textOf(Reflect.get(Object(value), key)))
  })
}

function settingsNamed(
  value: Readonly<Record<string, unknown>>,
  shape: NonNullable<Definition['shape']>,
): Record<string, unknown> {
  const named: Record<string, unknown> = {}
  // A setting that is there under its own name is never overwritten: the other one is reported.
  const isFree = (name: string): boolean =>
    Object.hasOwn(shape, name) && !Object.hasOwn(value, name) && !Object.hasOwn(named, name)
  const nameOf = (key: string): string => {
    if (Object.hasOwn(shape, key)) return key
    const name = RENAMED.get(key) ?? toCamelCase(key)
    return isFree(name) ? name : key
  }
  for (const [key, item] of Object.entries(value)) {
    const timed = DURATIONS.get(key)
    const duration = timed !== undefined && isFree(timed) ? parseDuration(item) : undefined
    const as = timed !== undefined && duration !== undefined ? timed : nameOf(key)
    const member = withSettingNames(duration ?? item, Object.hasOwn(shape, as) ? shape[as] : undefined)
    // A key may be `__proto__`, which an assignment takes for something else.
    if (as === '__proto__') Object.defineProperty(named, as, { value: member, enumerable: true })
    else named[as] = member
  }
  return named
}

export function toSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

export function toCamelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** `30s`, `250ms`, `5m`, `1h` in milliseconds; a bare number counts as seconds; else undefined. */
function parseDuration(value: unknown): number | undefined {
  if (typeof value === 'number') return value * 1000
  const text = textOf(value)
  const match = typeof text === 'string' ? DURATION.exec(text.trim()) : null
  if (!match) {
    const number = value instanceof FromEnvironment ? typedFor(value, z.number()) : undefined
    return typeof number === 'number' ? number * 1000 : undefined
  }
  return Number(match[1]) * (MILLISECONDS[match[2] ?? ''] ?? Number.NaN)
}
