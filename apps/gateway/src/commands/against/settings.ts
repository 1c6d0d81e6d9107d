import type { GatewayConfig } from '../../config/types.ts'
import { isRootName } from '../../coordinates.ts'
import { formatPath } from '../../errors.ts'
import { kinds } from '../../sources/kinds.ts'
import type { SourceOptions } from '../../sources/types.ts'
import type { Counterpart } from './counterparts.ts'

/** A setting of a source, as the config would have it. */
export interface Setting {
  /** `rest.shop.rename`, and the key in it. */
  readonly path: readonly (string | number)[]
  /** A list is added to what stands there. */
  readonly value: string | boolean | readonly string[]
}

type SourceConfigs = Readonly<Record<string, Renamed>>

export type Renamed = Pick<NonNullable<GatewayConfig['rest']>[string], 'prefix' | 'rename'>

const SECTIONS = Object.keys(kinds) as (keyof SourceOptions)[]

/** All sources that a config names, by section and name. */
export function sourcesOf(config: GatewayConfig): readonly (readonly [keyof SourceOptions, string])[] {
  return SECTIONS.flatMap((section) =>
    Object.keys(config[section] ?? {}).map((name) => [section, name] as const),
  )
}

/**
 * The settings that may give a counterpart its old name: a `rename` in one of the sources. What has a name of the config's
 * own already is known by another coordinate there.
 */
export function renamesFor({ old, now }: Counterpart, config: GatewayConfig): readonly Setting[] {
  return sourcesOf(config).map(([section, name]) => {
    const key = ownCoordinate(now.coordinate, (config[section] as SourceConfigs)[name] ?? {})
    return { path: [section, name, 'rename', key], value: old.name }
  })
}

/** What a source that renames calls a coordinate of the schema itself. */
export function ownCoordinate(coordinate: string, { prefix, rename = {} }: Renamed): string {
  const [, type = '', field = '', argument = ''] = /^([^.]*)\.?([^(]*)(.*)$/.exec(coordinate) ?? []
  const given = Object.entries(rename).filter(([key]) => !/[*(]/.test(key))
  const isRoot = isRootName(type)
  const ownType =
    given.find(([key, value]) => value === type && !key.includes('.'))?.[0] ??
    (isRoot ? type : withoutPrefix(type, prefix, 'types'))
  if (field === '') return ownType
  const ownField =
    given.find(([key, value]) => value === field && key.startsWith(`${ownType}.`))?.[0] ??
    `${ownType}.${isRoot ? withoutPrefix(field, prefix, 'fields') : field}`
  return ownField + argument
}

/** A name before it was prefixed; a prefix that is a word makes the letter behind it large. */
function withoutPrefix(name: string, prefix: Renamed['prefix'], part: 'types' | 'fields'): string {
  const text = typeof prefix === 'object' ? prefix[part] : prefix
  if (text === undefined || !name.toLowerCase().startsWith(text.toLowerCase())) return name
  const rest = name.slice(text.length)
  return typeof prefix === 'object' || part === 'types' ? rest : rest.charAt(0).toLowerCase() + rest.slice(1)
}

type Switch = Readonly<Record<string, string | boolean>>

const OF_GRPC: readonly Switch[] = [
  { fieldNames: 'proto' },
  { stripEnumPrefix: true },
  { typeNaming: 'qualified' },
  { maps: 'json' },
  { int64: 'number-when-safe' },
  { int64: 'bigint-scalar' },
  { int64: 'number-when-safe', 'rename.Long': 'Int' },
  { 'rename.UInt32': 'Int' },
  { 'rename.Bytes': 'String' },
]
const OF_OPENAPI: readonly Switch[] = [
  { 'openapi.integers': 'int' },
  { 'openapi.integers': 'long' },
  { 'openapi.trustRequired': true },
]
const OF_REST: readonly Switch[] = [{ 'rename.Long': 'Int' }]

/** Settings by which many names or types are others, for what a source's section has; those of one list belong together. */
export function switchesFor(config: GatewayConfig): readonly (readonly Setting[])[] {
  return sourcesOf(config).flatMap(([section, name]) => {
    const ofRest = config.rest?.[name]?.openapi === undefined ? OF_REST : [...OF_OPENAPI, ...OF_REST]
    return (section === 'grpc' ? OF_GRPC : ofRest).map((one) =>
      Object.entries(one).map(([key, value]) => ({ path: [section, name, ...key.split('.')], value })),
    )
  })
}

/** The config with these settings besides its own. */
export function withSettings(config: GatewayConfig, settings: readonly Setting[]): GatewayConfig {
  return settings.reduce<GatewayConfig>(
    (all, { path, value }) => put(all, path, value) as GatewayConfig,
    config,
  )
}

function put(
  within: unknown,
  [first, ...rest]: readonly (string | number)[],
  value: Setting['value'],
): unknown {
  if (first === undefined)
    return Array.isArray(within) && Array.isArray(value) ? [...within, ...value] : value
  if (typeof first === 'number' && Array.isArray(within))
    return within.map((item: unknown, index) => (index === first ? put(item, rest, value) : item))
  // An OpenAPI document may stand for itself.
  const object = typeof within === 'string' ? { [/^https?:/i.test(within) ? 'url' : 'file']: within } : within
  const known = (object ?? {}) as Readonly<Record<string, unknown>>
  return { ...known, [first]: put(known[first], rest, value) }
}

/** The setting as one line of YAML. */
export function describeSetting({ path, value }: Setting): string {
  const given = [value]
    .flat()
    .map((one) => (typeof one === 'string' ? quoted(one) : String(one)))
    .join(', ')
  const text = Array.isArray(value) ? `[${given}]` : given
  // Keys of one's own are in braces; an entry of a list has no name there.
  const isPlain = path.some((part) => typeof part === 'number') || path[2] === 'types'
  if (isPlain || path.length <= 3) return `${formatPath(path)}: ${text}`
  const inside = path.slice(3).reduceRight((held, key) => `{ ${quoted(String(key))}: ${held} }`, text)
  return `${formatPath(path.slice(0, 3))}: ${inside}`
}

/** A text of YAML, in quotes where it would be read as something else. */
function quoted(text: string): string {
  return /[(:]|^\W|^\d|^(true|false|null)?$/.test(text) ? `'${text.replaceAll("'", "''")}'` : text
}
