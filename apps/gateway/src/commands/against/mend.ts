import { systemClock } from '@vinyasa/base'
import type { GraphQLSchema } from 'graphql'
import type { GatewayConfig } from '../../config/types.ts'
import { ConfigError } from '../../errors.ts'
import { compareSchemas, type Finding } from './compare-schemas.ts'
import { coordinatesOf, type Named } from './coordinates-of.ts'
import { findCounterparts } from './counterparts.ts'
import { describeSetting, renamesFor, type Setting, switchesFor, withSettings } from './settings.ts'

/** A setting that was tried: with it and those before it, what it is for has its old name. */
export interface Mend {
  readonly setting: Setting
  /** The coordinate that is there again; undefined for a setting that mends many. */
  readonly coordinate?: string | undefined
}

export interface Mended {
  readonly mends: readonly Mend[]
  /** What clients would still notice. */
  readonly left: readonly Finding[]
  /** Settings that might mend more, for which there was no time. */
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
    `untried  ${describeSetting(first)}${others}: ${MAX_TRIES} gateways were made, or ${MAX_MS / 1000} s were over; set those above, and ask again`,
  ]
}

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
    const left = await compareSchemas(this.#before, this.#schema)
    return { mends: this.#mends, left, untried: left.length === 0 ? [] : [...this.#untried.values()] }
  }

  async #rename(isMeant: (old: Named) => boolean): Promise<boolean> {
    const config = withSettings(this.#config, this.#settings())
    const pairs = findCounterparts(this.#named, coordinatesOf(this.#schema))
    const next = pairs.flatMap((pair): Mend[] => {
      if (!isMeant(pair.old)) return []
      const setting = renamesFor(pair, config).find((one) => !this.#refused.has(keyOf(one)))
      return setting ? [{ setting, coordinate: pair.old.coordinate }] : []
    })
    if (next.length === 0 || this.#isOver(next)) return false
    await this.#take(next)
    return true
  }

  /** Takes those that hold, together where they do, else by halves. */
  async #take(mends: readonly Mend[]): Promise<void> {
    if (this.#isOver(mends)) return
    const schema = await this.#try(mends)
    if (schema && this.#isBetter(schema, mends)) {
      this.#schema = schema
      this.#mends.push(...mends)
      return
    }
    if (mends.length === 1) {
      for (const { setting } of mends) this.#refused.add(keyOf(setting))
      return
    }
    const half = Math.ceil(mends.length / 2)
    await this.#take(mends.slice(0, half))
    await this.#take(mends.slice(half))
  }

  async #switch(): Promise<void> {
    for (const settings of switchesFor(this.#config)) {
      const found = await this.#breaking(this.#schema)
      if (found.length === 0) return
      const mends = settings.map((setting): Mend => ({ setting }))
      if (this.#isOver(mends)) continue
      const schema = await this.#try(mends)
      if (!schema || !this.#isBetter(schema, [])) continue
      const then = await this.#breaking(schema)
      const isMore = this.#missing(schema) < this.#missing(this.#schema)
      const isOnlyLess = then.length < found.length && then.every((message) => found.includes(message))
      if (!isMore && !isOnlyLess) continue
      this.#schema = schema
      this.#mends.push(...mends)
    }
  }

  async #breaking(schema: GraphQLSchema): Promise<readonly string[]> {
    const findings = await compareSchemas(this.#before, schema)
    return findings.flatMap(({ level, message }) => (level === 'breaking' ? [message] : []))
  }

  #missing(schema: GraphQLSchema): number {
    const there = coordinatesOf(schema)
    return [...this.#named.keys()].filter((coordinate) => !there.has(coordinate)).length
  }

  /** Whether no more may be tried; what would have been is kept. */
  #isOver(mends: readonly Mend[]): boolean {
    if (this.#tries < MAX_TRIES && systemClock.now() < this.#end) return false
    for (const { setting } of mends) this.#untried.set(keyOf(setting), setting)
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

function keyOf({ path, value }: Setting): string {
  return JSON.stringify([path, value])
}
