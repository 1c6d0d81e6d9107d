import type { JsonText } from '@vinyasa/base'
import type { PreparedJoin, Site, StartedJoin } from '../plan/fast-path.ts'
import { mergeRecorded, type Recorded } from '../plan/recorded.ts'

/** A parent's key for a field that another kind of source joins; null: it has none. */
export interface SharedKey {
  readonly shared: PreparedJoin
  readonly key: string | null
}

interface Load<Value> {
  readonly started: StartedJoin
  /** By key; undefined where it is not there yet. */
  readonly values: Map<string | null, Value | undefined>
}

/** The fields of one execution of a plan that other kinds of sources join, each loaded once for a key. */
export class SharedJoins<Value> {
  #isOver = false
  readonly #loads = new Map<PreparedJoin, Load<Value>>()
  readonly #site: Site
  readonly #keep: (json: JsonText, objects: number) => Value

  /** `keep`: what is kept of the JSON for a key, with the number of objects in it. */
  constructor(site: Site, keep: (json: JsonText, objects: number) => Value) {
    this.#site = site
    this.#keep = keep
  }

  async load(all: readonly SharedKey[]): Promise<void> {
    if (this.#isOver) return
    const asked = new Map<Load<Value>, (string | null)[]>()
    for (const { shared, key } of all) {
      const load = this.#loadOf(shared)
      if (load.values.has(key)) continue
      load.values.set(key, undefined)
      const keys = asked.get(load)
      if (keys) keys.push(key)
      else asked.set(load, [key])
    }
    await Promise.all([...asked].map(([load, keys]) => this.#ask(load, keys)))
  }

  /** Returns the value that was loaded. */
  valueOf({ shared, key }: SharedKey): Value {
    return this.#loads.get(shared)?.values.get(key) as Value
  }

  /** Ends it: nothing more is called. What was called is told once: others ask the joins below theirs, and so these again. */
  recorded(): Recorded {
    if (this.#isOver) return { roots: new Map(), joins: new Map() }
    this.#isOver = true
    return mergeRecorded([...this.#loads.values()].map(({ started }) => started.recorded()))
  }

  #loadOf(shared: PreparedJoin): Load<Value> {
    let known = this.#loads.get(shared)
    if (!known) this.#loads.set(shared, (known = { started: shared.start(this.#site), values: new Map() }))
    return known
  }

  async #ask({ started, values }: Load<Value>, keys: readonly (string | null)[]): Promise<void> {
    const texts = await started.load(keys)
    for (const [index, key] of keys.entries())
      values.set(key, this.#keep(texts[index] as JsonText, started.objectsOf?.(key) ?? 1))
  }
}
