import type { JsonText } from '@vinyasa/core'
import type { JoinedJson, JsonSize, PreparedJoin, Site, StartedJoin } from '../plan/fast-path.ts'
import { groupBy } from '../schema/group-by.ts'
import { mergeRecorded, type Recorded } from '../plan/recorded.ts'

/** Key of a parent for a field that another kind of source joins; null if the parent has no key. */
export interface SharedKey {
  readonly shared: PreparedJoin
  readonly key: string | null
}

interface Load<Json> {
  readonly started: StartedJoin
  /** By key; undefined where it is not there yet. */
  readonly values: Map<string | null, Value<Json> | undefined>
}

interface Value<Json> {
  readonly joined: JoinedJson
  json?: Json
}

/** Fields of one execution of a plan that other kinds of sources join. Each field is loaded once per key. */
export class SharedJoins<Json extends JsonText> {
  #isOver = false
  readonly #loads = new Map<PreparedJoin, Load<Json>>()
  readonly #site: Site
  readonly #as: (json: JsonText) => Json

  /** Creates the joins. `as` converts JSON to the form in which the joining source writes it. */
  constructor(site: Site, as: (json: JsonText) => Json) {
    this.#site = site
    this.#as = as
  }

  /**
   * Loads fields that each appear once in the response.
   * @throws GraphQLError if the response becomes too large
   */
  async load(all: readonly SharedKey[]): Promise<void> {
    if (this.#isOver) return
    const asked = all.filter(({ shared, key }) => {
      const { values } = this.#loadOf(shared)
      const isNew = !values.has(key)
      if (isNew) values.set(key, undefined)
      return isNew
    })
    const byLoad = groupBy(asked, ({ shared }) => this.#loadOf(shared))
    await Promise.all([...byLoad].map(([load, keys]) => this.#ask(load, keys)))
    this.#hold(all)
  }

  sizeOf({ shared, key }: SharedKey): JsonSize {
    return this.#valueOf(shared, key).joined
  }

  /** Returns the JSON of a loaded field. It is serialized once and shared. */
  jsonOf({ shared, key }: SharedKey): Json {
    const value = this.#valueOf(shared, key)
    return (value.json ??= this.#as(value.joined.json()))
  }

  /**
   * Stops the plan from making calls and returns the calls already made, including those of joins below. Later
   * invocations return an empty record.
   */
  recorded(): Recorded {
    if (this.#isOver) return { roots: new Map(), joins: new Map() }
    this.#isOver = true
    return mergeRecorded([...this.#loads.values()].map(({ started }) => started.recorded()))
  }

  #loadOf(shared: PreparedJoin): Load<Json> {
    let known = this.#loads.get(shared)
    if (!known) this.#loads.set(shared, (known = { started: shared.start(this.#site), values: new Map() }))
    return known
  }

  #valueOf(shared: PreparedJoin, key: string | null): Value<Json> {
    return this.#loads.get(shared)?.values.get(key) as Value<Json>
  }

  async #ask({ started, values }: Load<Json>, asked: readonly SharedKey[]): Promise<void> {
    const joined = await started.load(asked.map(({ key }) => key))
    for (const [index, { key }] of asked.entries()) values.set(key, { joined: joined[index] as JoinedJson })
  }

  #hold(all: readonly SharedKey[]): void {
    let length = 0
    let objects = 0
    for (const { shared, key } of all) {
      // Another place has asked for it, and waits for it.
      const value = this.#loads.get(shared)?.values.get(key)
      if (!value) continue
      length += value.joined.length
      objects += value.joined.objects
    }
    this.#site.size.hold(objects, length)
  }
}
