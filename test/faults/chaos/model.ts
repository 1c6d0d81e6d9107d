/** One value that backends hold: `user:7` (a name), `product:3` (a description), `reviews:3` and `users` (lists that grow). */
export type Key = string

/** A change as the backend wrote it down before it answered. */
export interface Commit {
  readonly key: Key
  /** What the mutation wrote: no two mutations write the same. */
  readonly token: string
  /** What a read of the key gives from now on. */
  readonly value: string
  /** Milliseconds since the Unix epoch. */
  readonly at: number
}

/** A mutation as its client saw it. */
export interface Answer {
  /** The gateway process, each restarted one with a number of its own. */
  readonly gateway: number
  readonly key: Key
  readonly token: string
  readonly answeredAt: number
  /** False: an error, so that nobody knows whether it was carried out. */
  readonly ok: boolean
}

/** A value that a read gave. */
export interface Observation {
  readonly gateway: number
  readonly key: Key
  readonly value: string
  readonly startedAt: number
  readonly endedAt: number
  /** The operation and its cache outcome, for the report. */
  readonly how: string
}

/** The clocks of two processes differ by this much at most. */
const CLOCK_MS = 25

const LONGEST_READ_MS = 60_000

interface Version {
  readonly token: string
  readonly value: string
  readonly at: number
}

interface Floor {
  readonly answeredAt: number
  readonly index: number
}

/**
 * The truth. Backends write down what they commit, in order; a read is right when its value was committed, and is
 * not older than the newest change whose mutation the same gateway had answered before the read began.
 */
export class Model {
  readonly #versions = new Map<Key, Version[]>()
  readonly #indexOfValue = new Map<string, number>()
  readonly #indexOfToken = new Map<string, number>()
  readonly #floors = new Map<string, Floor[]>()
  #answers: Answer[] = []
  #observations: Observation[] = []
  readonly violations: string[] = []
  reads = 0
  mutations = { ok: 0, failed: 0, carriedOutAllTheSame: 0 }

  get keys(): readonly Key[] {
    return [...this.#versions.keys()]
  }

  /** What the key holds before anything is changed. */
  seed(key: Key, value: string): void {
    this.#versions.set(key, [])
    this.commit({ key, token: '', value, at: 0 })
  }

  commit({ key, token, value, at }: Commit): void {
    const versions = this.#versions.get(key)
    if (!versions) return
    versions.push({ token, value, at })
    this.#indexOfValue.set(`${key}=${value}`, versions.length - 1)
    this.#indexOfToken.set(`${key}=${token}`, versions.length - 1)
  }

  latest(key: Key): string | undefined {
    return this.#versions.get(key)?.at(-1)?.value
  }

  /** The place of a value among those that the key has held. */
  indexOf(key: Key, value: string): number | undefined {
    return this.#indexOfValue.get(`${key}=${value}`)
  }

  answered(answer: Answer): void {
    this.#answers.push(answer)
  }

  observed(observation: Observation): void {
    this.#observations.push(observation)
  }

  /** From now on this gateway owes what the key holds now. */
  require(gateway: number, key: Key, at: number): void {
    const index = (this.#versions.get(key)?.length ?? 0) - 1
    this.#addFloor(gateway, key, { answeredAt: at, index })
  }

  violate(what: string): void {
    this.violations.push(what)
  }

  /**
   * Judges all that was seen since the last call; every commit must have been told. Returns the keys that were
   * changed after the error of their mutation had gone out, which no gateway can know of.
   */
  judge(): ReadonlySet<Key> {
    const changedUnseen = new Set<Key>()
    for (const answer of this.#answers) this.#judgeAnswer(answer, changedUnseen)
    for (const observation of this.#observations) this.#judgeObservation(observation)
    this.#answers = []
    this.#observations = []
    this.#forgetOldFloors()
    return changedUnseen
  }

  /** A read that is under way now may have begun before the newest answers. */
  #forgetOldFloors(): void {
    for (const [place, floors] of this.#floors) {
      const newest = Math.max(...floors.map(({ answeredAt }) => answeredAt))
      const old = floors.filter(({ answeredAt }) => answeredAt < newest - LONGEST_READ_MS)
      const highest = Math.max(...old.map(({ index }) => index))
      this.#floors.set(
        place,
        floors.filter((floor) => !old.includes(floor) || floor.index === highest),
      )
    }
  }

  #judgeAnswer(answer: Answer, changedUnseen: Set<Key>): void {
    const { gateway, key, token, answeredAt, ok } = answer
    this.mutations[ok ? 'ok' : 'failed']++
    const index = this.#indexOfToken.get(`${key}=${token}`)
    if (index === undefined) {
      if (ok) this.violate(`lost: ${key} was answered as changed to ${token}, and never was`)
      return
    }
    if (!ok) {
      this.mutations.carriedOutAllTheSame++
      const committedAt = this.#versions.get(key)?.[index]?.at ?? 0
      if (committedAt > answeredAt - CLOCK_MS) {
        changedUnseen.add(key)
        return
      }
    }
    this.#addFloor(gateway, key, { answeredAt, index })
  }

  #addFloor(gateway: number, key: Key, floor: Floor): void {
    const place = `${gateway} ${key}`
    const floors = this.#floors.get(place) ?? []
    floors.push(floor)
    this.#floors.set(place, floors)
  }

  #judgeObservation(observation: Observation): void {
    const { gateway, key, value, startedAt, endedAt, how } = observation
    this.reads++
    const place = `gateway ${gateway}, ${how}, ${new Date(startedAt).toISOString().slice(14, 23)}`
    const index = this.indexOf(key, value)
    if (index === undefined) {
      this.violate(`wrong: ${key} read as ${value.slice(-60)}, which it never was (${place})`)
      return
    }
    const due = (this.#floors.get(`${gateway} ${key}`) ?? []).filter(
      (floor) => floor.answeredAt < startedAt && floor.index > index,
    )
    const oldest = due.toSorted((a, b) => a.index - b.index)[0]
    if (!oldest) return
    const late = Math.round(startedAt - oldest.answeredAt)
    this.violate(
      `stale: ${key} read as ${value.slice(-60)} ${late} ms after ${this.#versions.get(key)?.[oldest.index]?.token} ` +
        `had been answered (${place}, answered in ${Math.round(endedAt - startedAt)} ms)`,
    )
  }
}
