import { systemClock } from '@vinyasa/core'
import { type GraphQLSchema, isObjectType } from 'graphql'
import type { GatewayConfig } from '../../config/types.ts'
import { ConfigError } from '../../errors.ts'
import { compareSchemas, type Finding } from './compare-schemas.ts'
import { coordinatesOf, type Named, bareType } from './coordinates-of.ts'
import { findCounterparts } from './counterparts.ts'
import {
  describeSetting,
  renamesFor,
  type Setting,
  switchesFor,
  withSettings,
  ownCoordinate,
} from './settings.ts'
import { ofGrpc, type Candidate, type View, fieldNamesOf, movedFrom } from './candidates-grpc.ts'
import { elementOf } from '../../sources/elements.ts'

/** What options of REST sources may make a finding go away. */
function ofRest(finding: Finding, view: View): readonly Candidate[] {
  if (Object.keys(view.config.rest ?? {}).length === 0) return []
  return [...ofOperation(finding, view), ...ofRoot(finding, view), ...ofTypes(finding, view)]
}

/** On which operation an endpoint's field is. */
function ofOperation(finding: Finding, view: View): readonly Candidate[] {
  const moved = movedFrom(finding, view)
  if (moved?.operation !== 'Query' || moved.now[0] !== 'Mutation') return []
  const [type, name] = moved.now
  const found = endpointOf(view, type, name)
  if (!found) return []
  const { source, index, operation } = found
  const renamed: Setting[] =
    name === moved.name ? [] : [{ path: ['rest', source, 'rename', `Query.${name}`], value: moved.name }]
  if (index >= 0)
    return [[{ path: ['rest', source, 'endpoints', index, 'asQuery'], value: true }, ...renamed]]
  return [[{ path: ['rest', source, 'openapi', 'asQuery'], value: [operation] }, ...renamed]]
}

/** What an endpoint of the config's own says of its field. */
function ofRoot(finding: Finding, view: View): readonly Candidate[] {
  const { rule, path, was } = finding
  const [parent = '', name = '', argument] = path.split('.')
  const found = endpointOf(view, parent, name)
  if (!found) return []
  const { source, index, endpoint } = found
  const envelopes = ['headers', 'links', 'nextPage'].map((option): Candidate => [
    { path: ['rest', source, 'openapi', option], value: true },
  ])
  if (!endpoint)
    return rule === 'FIELD_TYPE_CHANGED' && was && fieldNamesOf(view.before, bareType(was)).includes('body')
      ? envelopes
      : []
  const at = ['rest', source, 'endpoints', index]
  if (argument !== undefined) return ofArgument(finding, endpoint.args?.[argument], [...at, 'args', argument])
  if (rule !== 'FIELD_TYPE_CHANGED') return []
  const type = withMarks(endpoint.returnType ?? endpoint.responseSchema?.typeName, finding)
  return type === undefined ? [] : [[{ path: [...at, 'returnType'], value: type }]]
}

type Endpoint = NonNullable<NonNullable<GatewayConfig['rest']>[string]['endpoints']>[number]

/** `path`: where the config has the argument. */
function ofArgument(
  finding: Finding,
  given: NonNullable<Endpoint['args']>[string] | undefined,
  path: Setting['path'],
): readonly Candidate[] {
  if (given === undefined) return []
  const text = typeof given === 'string' ? given : given.type
  const [type = '', value] = text.split(/\s*=\s*/)
  const place = typeof given === 'string' ? path : [...path, 'type']
  if (finding.rule === 'FIELD_ARGUMENT_DEFAULT_CHANGED') {
    const old = finding.was === undefined || finding.was === 'undefined' ? '' : ` = ${finding.was}`
    return [[{ path: place, value: `${type}${old}` }]]
  }
  const typed = withMarks(type, finding)
  return typed === undefined
    ? []
    : [[{ path: place, value: value === undefined ? typed : `${typed} = ${value}` }]]
}

/** What the config says of a type of its own. */
function ofTypes(finding: Finding, { config, after }: View): readonly Candidate[] {
  const [parent = '', name = ''] = finding.path.split('.')
  if (!/^(FIELD|INPUT_FIELD)_TYPE_CHANGED$/.test(finding.rule) || !after.getType(parent)) return []
  return Object.entries(config.rest ?? {}).flatMap(([source, options]): Candidate[] => {
    const [type = '', field = ''] = ownCoordinate(`${parent}.${name}`, options).split('.')
    const defined = options.types?.[type]
    const member = defined && 'fields' in defined ? defined.fields[field] : undefined
    const places: [readonly (string | number)[], string][] = []
    if (member) places.push([['rest', source, 'types', type, 'fields', field, 'type'], member.type])
    for (const [index, { responseSchema }] of (options.endpoints ?? []).entries()) {
      const given = responseSchema?.typeName === type ? responseSchema.fields[field] : undefined
      const path = ['rest', source, 'endpoints', index, 'responseSchema', 'fields', field]
      if (typeof given === 'string') places.push([path, given])
      else if (given) places.push([[...path, 'type'], given.type])
    }
    const settings = places.flatMap(([path, text]): Setting[] => {
      const value = withMarks(text, finding)
      return value === undefined ? [] : [{ path, value }]
    })
    return settings.length === 0 ? [] : [settings]
  })
}

const KINDS: ReadonlySet<string> = new Set(['Int', 'Float', 'String', 'Boolean', 'ID'])

/** The type that was, as the config writes types: its own name where that has only other marks, else a scalar of GraphQL's. */
function withMarks(written: string | undefined, { was, is }: Finding): string | undefined {
  if (written === undefined || was === undefined || is === undefined) return undefined
  const old = bareType(was)
  if (old === bareType(is)) return was.replace(old, bareType(written))
  return KINDS.has(old) ? was : undefined
}

function endpointOf({ after, config }: View, parent: string, name: string) {
  const type = after.getType(parent)
  const element = elementOf(isObjectType(type) ? type.getFields()[name] : undefined)
  if (element?.section !== 'rest') return undefined
  const { source, operation } = element
  const endpoints = config.rest?.[source]?.endpoints ?? []
  const index = endpoints.findIndex((one) => one.name === element.endpoint)
  return { source, operation, index, endpoint: endpoints[index] }
}

/** What may make one finding go away besides another name, the likeliest first. Each has to be tried. */
function candidatesFor(finding: Finding, view: View): readonly Candidate[] {
  return [...ofGrpc(finding, view), ...ofRest(finding, view), ...ofGateway(finding, view)]
}

/** Settings of the gateway, not of a source: what routers ask of a subgraph. */
function ofGateway({ rule, path }: Finding, { config }: View): readonly Candidate[] {
  const isAsked = rule === 'FIELD_REMOVED' && /^Query\._(service|entities)$/.test(path)
  return isAsked && !config.federation ? [[{ path: ['federation'], value: true }]] : []
}

/** A setting that was tried: with it and those before it, what it is for has its old name. */
export interface Mend {
  readonly setting: Setting
  /** The coordinate that is there again; undefined for a setting that mends many. */
  readonly coordinate?: string | undefined
  /** The message of the finding that is gone with it, and with those of the same finding. */
  readonly message?: string | undefined
}

export interface Mended {
  readonly mends: readonly Mend[]
  /** The schema with them. */
  readonly schema: GraphQLSchema
  /** What clients would still notice. */
  readonly left: readonly Finding[]
  /** Settings that might fix more, for which there was no time. */
  readonly untried: readonly Setting[]
}

/** The schema of a gateway of this config, which is closed again. Throws {@link ConfigError} where there is none. */
export type SchemaOf = (config: GatewayConfig) => Promise<GraphQLSchema>

/** Gateways that are made to try settings, and how long that goes on. */
const MAX_TRIES = 60
const MAX_MS = 30_000

/**
 * Finds settings that give clients of an older schema what they had, and tries each: a gateway is made with it. None is begun
 * once `maxMs` are over.
 */
export function findMends(
  before: GraphQLSchema,
  after: GraphQLSchema,
  config: GatewayConfig,
  schemaOf: SchemaOf,
  maxMs: number = MAX_MS,
): Promise<Mended> {
  return new Search(before, config, schemaOf, systemClock.now() + maxMs).run(after)
}

/** A line on what was not tried, if anything was not. */
export function describeUntried({ untried }: Mended): readonly string[] {
  const [first] = untried
  if (!first) return []
  const others = untried.length === 1 ? '' : ` and ${untried.length - 1} more`
  return [
    `not tried ${describeSetting(first)}${others}: the search stopped after ${MAX_TRIES} attempts or ${MAX_MS / 1000} s; apply the listed settings, if any, then run vinyasa check --against <old schema>`,
  ]
}

/** Mends that belong together. */
type Group = readonly Mend[]

type IsHeld = (schema: GraphQLSchema, groups: readonly Group[]) => boolean | Promise<boolean>

class Search {
  readonly #before: GraphQLSchema
  readonly #named: ReturnType<typeof coordinatesOf>
  readonly #config: GatewayConfig
  readonly #schemaOf: SchemaOf
  readonly #mends: Mend[] = []
  readonly #refused = new Set<string>()
  readonly #untried = new Map<string, Setting>()
  readonly #end: number
  #schema!: GraphQLSchema
  #tries = 0

  constructor(before: GraphQLSchema, config: GatewayConfig, schemaOf: SchemaOf, end: number) {
    this.#end = end
    this.#before = before
    this.#named = coordinatesOf(before)
    this.#config = config
    this.#schemaOf = schemaOf
  }

  async run(after: GraphQLSchema): Promise<Mended> {
    this.#schema = after
    await this.#switch()
    // Once a type has its name its fields are seen, and one switch may be for many of them.
    while (await this.#rename(({ parent }) => parent === undefined));
    await this.#switch()
    while (await this.#rename(() => true));
    await this.#switch()
    while (await this.#mendFindings()) while (await this.#rename(() => true));
    await this.#switch()
    const left = await compareSchemas(this.#before, this.#schema)
    const schema = this.#schema
    return { mends: this.#mends, schema, left, untried: left.length === 0 ? [] : [...this.#untried.values()] }
  }

  async #rename(isMeant: (old: Named) => boolean): Promise<boolean> {
    const pairs = findCounterparts(this.#named, coordinatesOf(this.#schema))
    const next = pairs.flatMap((pair): Group[] => {
      if (!isMeant(pair.old)) return []
      const candidates = renamesFor(pair, this.#changed()).map((one) => [one])
      return this.#first(candidates, { coordinate: pair.old.coordinate })
    })
    return this.#takeAll(next, (schema, groups) => this.#isBetter(schema, groups.flat()))
  }

  /** Settings of which each is for one finding alone. */
  async #mendFindings(): Promise<boolean> {
    const found = await compareSchemas(this.#before, this.#schema)
    const view = { before: this.#before, after: this.#schema, config: this.#changed() }
    const groups = found.flatMap((finding) =>
      this.#first(candidatesFor(finding, view), { message: finding.message }),
    )
    const next = [...new Map(groups.map((group) => [keyOf(group), group])).values()]
    return this.#takeAll(next, async (schema, tried) => {
      const then = await this.#messages(schema)
      if (!this.#isBetter(schema, []) || tried.flat().some(({ message = '' }) => then.includes(message)))
        return false
      return this.#missing(schema) < this.#missing(this.#schema) || isOnlyLess(then, found)
    })
  }

  /** The first of several that was not refused before. */
  #first(candidates: readonly (readonly Setting[])[], what: Omit<Mend, 'setting'>): Group[] {
    const groups = candidates.map((settings) => settings.map((setting): Mend => ({ setting, ...what })))
    const group = groups.find((one) => one.length > 0 && !this.#refused.has(keyOf(one)))
    return group ? [group] : []
  }

  async #takeAll(groups: readonly Group[], isHeld: IsHeld): Promise<boolean> {
    if (groups.length === 0 || this.#isOver(groups.flat())) return false
    await this.#take(groups, isHeld)
    return true
  }

  /** Takes those that hold, together where they do, else by halves. */
  async #take(groups: readonly Group[], isHeld: IsHeld): Promise<void> {
    if (this.#isOver(groups.flat())) return
    const schema = await this.#try(groups.flat())
    if (schema && (await isHeld(schema, groups))) {
      this.#schema = schema
      this.#mends.push(...groups.flat())
      return
    }
    const [only, ...others] = groups
    if (only && others.length === 0) {
      this.#refused.add(keyOf(only))
      return
    }
    const half = Math.ceil(groups.length / 2)
    await this.#take(groups.slice(0, half), isHeld)
    await this.#take(groups.slice(half), isHeld)
  }

  async #switch(): Promise<void> {
    for (const settings of switchesFor(this.#config)) {
      const found = await compareSchemas(this.#before, this.#schema)
      if (found.every(({ level }) => level === 'dangerous')) return
      const mends = settings.map((setting): Mend => ({ setting }))
      if (this.#isOver(mends)) continue
      const schema = await this.#try(mends)
      if (!schema || !this.#isBetter(schema, [])) continue
      const breaking = found.filter(({ level }) => level === 'breaking')
      const isMore = this.#missing(schema) < this.#missing(this.#schema)
      if (!isMore && !isOnlyLess(await this.#messages(schema, 'breaking'), breaking)) continue
      this.#schema = schema
      this.#mends.push(...mends)
    }
  }

  async #messages(schema: GraphQLSchema, only?: Finding['level']): Promise<readonly string[]> {
    const findings = await compareSchemas(this.#before, schema)
    return findings.flatMap(({ level, message }) => (level === (only ?? level) ? [message] : []))
  }

  #missing(schema: GraphQLSchema): number {
    const there = coordinatesOf(schema)
    return [...this.#named.keys()].filter((coordinate) => !there.has(coordinate)).length
  }

  /** Whether no more may be tried; what would have been is kept. */
  #isOver(mends: readonly Mend[]): boolean {
    if (this.#tries < MAX_TRIES && systemClock.now() < this.#end) return false
    for (const fix of mends) this.#untried.set(keyOf([fix]), fix.setting)
    return true
  }

  async #try(mends: readonly Mend[]): Promise<GraphQLSchema | undefined> {
    this.#tries += 1
    try {
      return await this.#schemaOf(withSettings(this.#config, this.#settings(mends)))
    } catch (error) {
      if (error instanceof ConfigError) return undefined
      throw error
    }
  }

  #changed(): GatewayConfig {
    return withSettings(this.#config, this.#settings())
  }

  #settings(more: readonly Mend[] = []): readonly Setting[] {
    return [...this.#mends, ...more].map(({ setting }) => setting)
  }

  /** Whether all that they are for is there, and nothing is gone that was. */
  #isBetter(schema: GraphQLSchema, mends: readonly Mend[]): boolean {
    const now = coordinatesOf(this.#schema)
    const then = coordinatesOf(schema)
    return (
      mends.every(({ coordinate = '' }) => then.has(coordinate)) &&
      [...this.#named.keys()].every((coordinate) => then.has(coordinate) || !now.has(coordinate))
    )
  }
}

function keyOf(group: Group): string {
  return JSON.stringify(group.map(({ setting: { path, value } }) => [path, value]))
}

function isOnlyLess(messages: readonly string[], found: readonly Finding[]): boolean {
  const known = new Set(found.map(({ message }) => message))
  return messages.length < found.length && messages.every((message) => known.has(message))
}
