import type { GraphQLSchema } from 'graphql'
import type { GatewayConfig } from '../../config/types.ts'
import { ConfigError } from '../../errors.ts'
import { compareSchemas, type Finding } from './compare-schemas.ts'
import { coordinatesOf, type Named } from './coordinates-of.ts'
import { findCounterparts } from './counterparts.ts'
import { renamesFor, type Setting, switchesFor, withSettings } from './settings.ts'

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
}

/** The schema of a gateway of this config, which is closed again. Throws {@link ConfigError} where there is none. */
export type SchemaOf = (config: GatewayConfig) => Promise<GraphQLSchema>

/** Gateways that are made to try settings. */
const MAX_TRIES = 60

/** Finds settings that give clients of an older schema what they had, and tries each: a gateway is made with it. */
export function findMends(
  before: GraphQLSchema,
  after: GraphQLSchema,
  config: GatewayConfig,
  schemaOf: SchemaOf,
): Promise<Mended> {
  return new Search(before, config, schemaOf).run(after)
}

class Search {
  readonly #before: GraphQLSchema
  readonly #named: ReturnType<typeof coordinatesOf>
  readonly #config: GatewayConfig
  readonly #schemaOf: SchemaOf
  readonly #mends: Mend[] = []
  readonly #refused = new Set<string>()
  #schema!: GraphQLSchema
  #tries = 0

  constructor(before: GraphQLSchema, config: GatewayConfig, schemaOf: SchemaOf) {
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
    return { mends: this.#mends, left: await compareSchemas(this.#before, this.#schema) }
  }

  async #rename(isMeant: (old: Named) => boolean): Promise<boolean> {
    const config = withSettings(this.#config, this.#settings())
    const pairs = findCounterparts(this.#named, coordinatesOf(this.#schema))
    const next = pairs.flatMap((pair): Mend[] => {
      if (!isMeant(pair.old)) return []
      const setting = renamesFor(pair, config).find((one) => !this.#refused.has(keyOf(one)))
      return setting ? [{ setting, coordinate: pair.old.coordinate }] : []
    })
    if (next.length === 0 || this.#tries >= MAX_TRIES) return false
    await this.#take(next)
    return true
  }

  /** Takes those that hold, together where they do, else by halves. */
  async #take(mends: readonly Mend[]): Promise<void> {
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
    for (const setting of switchesFor(this.#config)) {
      const found = await this.#breaking(this.#schema)
      if (found.length === 0) return
      const schema = await this.#try([{ setting }])
      if (!schema || !this.#isBetter(schema, [])) continue
      const then = await this.#breaking(schema)
      const isMore = this.#missing(schema) < this.#missing(this.#schema)
      const isOnlyLess = then.length < found.length && then.every((message) => found.includes(message))
      if (!isMore && !isOnlyLess) continue
      this.#schema = schema
      this.#mends.push({ setting })
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

  async #try(mends: readonly Mend[]): Promise<GraphQLSchema | undefined> {
    if (this.#tries >= MAX_TRIES) return undefined
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
