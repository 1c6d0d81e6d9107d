import {
  askAll,
  type ItemsByKey,
  type JoinCalls,
  mergeRecorded,
  PlannedJoins,
  type Recorded,
  SharedJoins,
  type SharedKey,
  type Site,
  type Variables,
} from '@vinyasa/source-kit'
import type { FieldScope } from '../call/call.ts'
import { endingsOf } from '../http/ending.ts'
import { argumentsText } from '../json.ts'
import type { Args } from '../templates/template.ts'
import type { PlannableJoin } from './planned-field.ts'

/** The items that a joined field of a selection brought, for all parents of one execution. */
interface Joined {
  /** The items for a key. */
  readonly items: (key: string) => readonly unknown[]
  /** The field's JSON by key; undefined where it is not written yet. */
  readonly texts: Map<string, WrittenText | undefined>
  readonly calls: JoinCalls<AskedKey, ItemsByKey>
}

export interface WrittenText {
  readonly text: string
  /** How many objects are in it. */
  readonly objects: number
}

/** A value that is being written, with what joins brought for it. */
export class Writing {
  /** The number of objects that are written. */
  objects = 0
  readonly joined: JoinRun
  readonly #size: Pick<Site['size'], 'hold'>

  constructor(joined: JoinRun, size: Pick<Site['size'], 'hold'>) {
    this.joined = joined
    this.#size = size
  }

  /** Refuses text that is a part of it and larger than the whole answer may be. @throws GraphQLError */
  hold(characters: number): void {
    this.#size.hold(this.objects, characters)
  }
}

/** The JSON text of a value. @throws FallBack */
export type Write = (value: unknown, writing: Writing) => string

/** The same in pieces, where there are long lists. @throws FallBack */
export type WritePieces = (value: unknown, writing: Writing) => Iterable<string>

/** Takes a field's value out of its parent, which is an object of a response. */
export type Read = (parent: Readonly<Record<string, unknown>>) => unknown

/** A selection on an object of a response. */
export interface ObjectPlan {
  /** Joined fields, and members below which there are some, in the order of the selection. */
  readonly below: readonly (PlannedJoin | KeyedShare | JoiningMember)[]
  readonly write: Write
  /** Undefined where it has no lists. */
  readonly pieces: WritePieces | undefined
}

/** A batched join within a selection. */
export interface PlannedJoin {
  readonly kind: 'join'
  readonly join: PlannableJoin
  readonly argumentsOf: (variables: Variables) => Args
  /** The parent's key; null: it has none. @throws FallBack */
  key(parent: Readonly<Record<string, unknown>>): unknown
  /** For the items. */
  readonly plan: ObjectPlan
}

/** A field that another kind of source joins. */
export interface KeyedShare {
  readonly kind: 'share'
  readonly shared: SharedKey['shared']
  /** Returns the parent's key, as for a {@link PlannedJoin}. @throws FallBack */
  key(parent: Readonly<Record<string, unknown>>): unknown
}

/** A member with joined fields in it. */
interface JoiningMember {
  readonly kind: 'member'
  readonly read: Read
  readonly plan: ObjectPlan
}

/** A key as joins of other kinds of sources take it. */
export function keyText(key: unknown): string | null {
  return key === null ? null : String(key)
}

export function hasJoins({ below }: ObjectPlan): boolean {
  return below.length > 0
}

/** A key that a parent needs, as it came. */
interface AskedKey {
  readonly key: string
  readonly planned: PlannedJoin
  readonly raw: unknown
}

const NOTHING: readonly unknown[] = []

/**
 * The joins of one execution. Most have none, and make nothing of this; it is a class because a getter in a literal gives each
 * object a hidden class.
 */
export class JoinRun {
  readonly scope: FieldScope
  readonly #site: Site
  #joins: PlannedJoins<PlannableJoin, AskedKey, ItemsByKey> | undefined
  #shared: SharedJoins<string> | undefined
  #joined: Map<PlannedJoin, Joined> | undefined

  constructor(site: Site) {
    const { variables, args } = site
    const context = args.contextValue as object
    // `signal` is `@graphql-tools/executor`'s name, `abortSignal` graphql's.
    const { signal, abortSignal = signal } = args as { signal?: AbortSignal; abortSignal?: AbortSignal }
    this.#site = site
    // The variables stand for the execution, to count its calls.
    this.scope = {
      endings: endingsOf(context, abortSignal, site.isOneCall),
      context,
      operation: variables,
      schema: args.schema,
    }
  }

  get shared(): SharedJoins<string> {
    return (this.#shared ??= new SharedJoins(this.#site, String))
  }

  /** Ordinary execution has taken over, and makes what calls are left to make. */
  get isOver(): boolean {
    return this.#joins?.isOver ?? false
  }

  /** @throws FallBack */
  of(planned: PlannedJoin): Joined {
    this.#joined ??= new Map()
    let known = this.#joined.get(planned)
    if (known) return known
    const { join, argumentsOf } = planned
    const given = argumentsOf(this.#site.variables)
    const calls = this.#planned().callsOf(join, argumentsText(given), (asked) =>
      join.loadItems(
        asked.map(({ raw }) => raw),
        given,
        this.scope,
      ),
    )
    known = { calls, items: (key) => calls.replyFor(key)?.get(key) ?? NOTHING, texts: new Map() }
    this.#joined.set(planned, known)
    return known
  }

  /** Ends it. What was called is told once. */
  recorded(): Recorded {
    return mergeRecorded([this.#planned().recorded(), this.shared.recorded()])
  }

  #planned(): PlannedJoins<PlannableJoin, AskedKey, ItemsByKey> {
    return (this.#joins ??= new PlannedJoins((_join, items) => items))
  }
}

export function createJoinRun(site: Site): JoinRun {
  return new JoinRun(site)
}

/** The part of a plan that joins are loaded by. */
type Selected = Pick<ObjectPlan, 'below'>

/** The keys that are to be loaded for some values. */
interface Wanted {
  readonly keys: AskedKey[]
  readonly ofOthers: SharedKey[]
}

/** Makes the calls of all joins below values, and of those below what they bring. @throws FallBack */
export async function loadJoins(found: Iterable<readonly [Selected, unknown]>, run: JoinRun): Promise<void> {
  if (run.isOver) return
  const wanted: Wanted = { keys: [], ofOthers: [] }
  for (const [plan, value] of found) collect(plan, value, run, wanted)
  const loading: Promise<void>[] = []
  if (wanted.ofOthers.length > 0) loading.push(run.shared.load(wanted.ofOthers))
  if (wanted.keys.length > 0)
    loading.push(
      askAll(
        wanted.keys,
        (asked) => run.of(asked.planned).calls.ask(asked),
        (arrived) => loadBelow(arrived, run),
      ),
    )
  await Promise.all(loading)
}

function loadBelow(arrived: readonly AskedKey[], run: JoinRun): Promise<void> | void {
  const found: (readonly [Selected, unknown])[] = []
  for (const { planned, key } of arrived) {
    const { join, plan } = planned
    if (!hasJoins(plan)) continue
    const items = run.of(planned).items(key)
    found.push([plan, join.many ? items : items[0]])
  }
  if (found.length > 0) return loadJoins(found, run)
}

/** The keys that are asked for the first time below a value. */
function collect(plan: Selected, value: unknown, run: JoinRun, wanted: Wanted): void {
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) collect(plan, item, run, wanted)
    return
  }
  if (typeof value !== 'object' || value === null) return
  const parent = value as Readonly<Record<string, unknown>>
  for (const one of plan.below) {
    if (one.kind === 'member') {
      collect(one.plan, one.read(parent), run, wanted)
      continue
    }
    const raw = one.key(parent)
    if (one.kind === 'share') {
      wanted.ofOthers.push({ shared: one.shared, key: keyText(raw) })
      continue
    }
    if (raw === null) continue
    const key = String(raw)
    const { texts } = run.of(one)
    if (texts.has(key)) continue
    texts.set(key, undefined)
    wanted.keys.push({ planned: one, key, raw })
  }
}
