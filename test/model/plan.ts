/** All that a seed decides, as plain data: what is drawn is drawn before anything runs. */

/** `own`: written by hand, beside the sources. */
export type SourceName = 'grpc' | 'rest' | 'own'

/** A type with an id, of which backends hold rows. */
export interface EntityPlan {
  readonly name: string
  /** What its ids begin with. */
  readonly letter: string
  readonly source: SourceName
  /** Type of an object without an id inside, `note { text weight }`. Entities of one source can share it. */
  readonly note: string | undefined
  /** Entities of the same source, whole, inside the reply. */
  readonly embeds: readonly { readonly field: string; readonly type: string; readonly many: boolean }[]
  /** Numbers, or the weight of a note, made from all rows of another type. */
  readonly computed: readonly { readonly field: string; readonly from: string; readonly isNote: boolean }[]
  /** Ids of rows of another type. */
  readonly links: readonly { readonly field: string; readonly to: string }[]
  /** What the one entity that it points to can be: a union, `partner`. */
  readonly partners: readonly string[]
}

/** `type.field` is resolved by the source of `target`. */
export interface JoinPlan {
  readonly type: string
  readonly field: string
  readonly target: string
  /** The parent's field with the key; for `many` it is `id`, and `link` is the target's field. */
  readonly link: string
  readonly kind: 'one' | 'batch' | 'many'
}

export const READ_SHAPES = [
  'one',
  'list',
  'wrapper',
  'connection',
  'nested',
  'aggregate',
  'count',
  'text',
  'json',
  'union',
  'interface',
] as const
export type ReadShape = (typeof READ_SHAPES)[number]

export interface ReadPlan {
  readonly name: string
  readonly source: SourceName
  readonly type: string
  readonly shape: ReadShape
  /** Further members of a union or an interface. */
  readonly others: readonly string[]
  readonly triggers: readonly string[] | undefined
}

export const EFFECTS = ['update', 'create', 'remove', 'reset', 'transfer'] as const
export type Effect = (typeof EFFECTS)[number]

export const RETURNS = [
  'entity',
  'null',
  'payload',
  'list',
  'ok',
  'boolean',
  'id',
  'empty',
  'json',
  'other',
] as const
export type Returns = (typeof RETURNS)[number]

export interface MutationPlan {
  readonly name: string
  readonly source: SourceName
  readonly type: string
  readonly effect: Effect
  readonly returns: Returns
  /** The type that `other` returns. */
  readonly other: string
  /** A type that changes as well. */
  readonly side: string | undefined
  /** What the configuration states; undefined: nothing. */
  readonly changes: readonly string[] | undefined
  readonly httpMethod: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
}

/**
 * How much of what a world has, each drawn for itself: what is rare, or drowned by other things, on the average is the rule
 * in some worlds, and two rare things meet in a few.
 */
export interface Features {
  /** Of reads that may have triggers of their own. */
  readonly triggers: number
  /** Of mutations whose results say nothing: the configuration states what they change. */
  readonly statements: number
  /** Of pairs of types: rows of one hold ids of the other. */
  readonly links: number
  readonly embeds: number
  readonly computed: number
  readonly notes: number
  /** Of mutations that change a second type. */
  readonly sides: number
  /** Of mutations whose outcome nobody knows: cut off by a deadline, or by the client. */
  readonly cuts: number
  /** Of selections: one that leads further is among them. */
  readonly below: number
  /** What weighs how much among the steps. */
  readonly steps: Readonly<Record<'watch' | 'mutate' | 'race' | 'attack' | 'read', number>>
}

/** A field of `Query` that code answers by who asks. */
export interface CodePlan {
  readonly name: string
  readonly reads: 'header' | 'claims' | 'source' | 'source alone'
  readonly header: (typeof USER_HEADERS)[number]
  /** What is called of a source, under its own name. */
  readonly call: { readonly source: 'grpc' | 'rest'; readonly method: string }
  /** A method of what its resolver gives reads it. */
  readonly isMethod: boolean
  /** What the configuration states; undefined: nothing. */
  readonly variesBy: readonly string[] | undefined
  /** Whether it reads nothing more than that, or than the default. */
  readonly isDeclared: boolean
}

/** `private`: responses are only kept for a known caller. `never`: responses are not kept. */
export interface StatementPlan {
  /** A type, or `Type.field`. */
  readonly place: string
  readonly word: 'private' | 'never'
  /** By a directive in definitions written by hand; otherwise by an option. */
  readonly isByHand: boolean
}

export interface SchemaPlan {
  readonly code: readonly CodePlan[]
  readonly statement: StatementPlan | undefined
  readonly features: Features
  readonly entities: readonly EntityPlan[]
  readonly joins: readonly JoinPlan[]
  readonly reads: readonly ReadPlan[]
  readonly mutations: readonly MutationPlan[]
}

/** A query, with its variables if it has some. */
export interface Operation {
  readonly variables: Readonly<Record<string, unknown>> | undefined
  /** What stands before the selection: `($v: ID!)`, or nothing. */
  readonly head: string
  readonly selection: string
}

/** The headers by which users differ. */
export const USER_HEADERS = ['authorization', 'x-tenant', 'x-region', 'cookie', 'x-secret'] as const
export type UserHeaders = Readonly<Partial<Record<(typeof USER_HEADERS)[number], string>>>

export interface CachePlan {
  readonly strategy: 'types' | 'entities' | 'all'
  readonly defaultTtlMs: number
  readonly staleWhileRevalidateMs: number
  readonly varyHeaders: readonly string[] | undefined
  /** Caches on the way answer by themselves, without hearing of changes. */
  readonly clientMaxAge: boolean
}

/**
 * `mortal`: two gateways on a Redis, the second a process that is killed in the end; `fleet`: two, the second of two
 * workers.
 */
export type FixtureName = 'gateway' | 'plugins' | 'workers' | 'redis' | 'mortal' | 'fleet'

/** What a world may be: of the servers named, or a small one about who asks. */
export type WorldKind = FixtureName | 'callers'

export interface SettingsPlan {
  readonly fixture: FixtureName
  readonly cache: CachePlan | undefined
  readonly dedupe: 'operation' | 'inflight' | false
  readonly plans: boolean
  readonly grpcForward: readonly string[] | undefined
  readonly restForward: readonly string[]
  readonly restCacheSize: number
  /** An interceptor sends `x-secret` on; `session` and `contextKey` say for whom answers are. */
  readonly interceptor: boolean
  /** `session` says for whom answers are, without an interceptor too. */
  readonly session: boolean
  /** Resolvers of the configuration read who asks. */
  readonly hasCode: boolean
  /** Tokens are verified, and users have some. */
  readonly jwt: boolean
  readonly preset: 'development' | 'production'
  readonly throttleMs: number
  /** A plugin that refuses what an attacker sends, at this hook. */
  readonly guard: 'onRequest' | 'onRequestParse' | 'onParams' | undefined
}

/** `shared get`: through a shared HTTP cache. */
export const READ_WAYS = [
  'post',
  'get',
  'shared get',
  'batch',
  'sse',
  'graphql socket',
  'live socket',
] as const
export type Way = (typeof READ_WAYS)[number]

interface ByUser {
  readonly place: number
  readonly user: number
  readonly way: Way
}

/** A read that follows: a place in the pool, and by whom. */
export type Probe = { readonly operation: number } & ByUser

/** What a backend does with the next mutation. */
export type Outcome = 'answered' | 'killed' | 'failed after commit' | 'partly' | 'deadline' | 'client leaves'

export type StepPlan =
  | ({ readonly kind: 'read'; readonly operation: number } & ByUser)
  /** Each of the users asks for it, in turn or at once. */
  | {
      readonly kind: 'crowd'
      readonly operation: number
      readonly place: number
      readonly way: Way
      readonly isAtOnce: boolean
    }
  | ({
      readonly kind: 'mutate'
      readonly document: string
      readonly outcome: Outcome
      /** What is asked after it was asked right before it too. */
      readonly isWarm: boolean
      readonly probes: readonly Probe[]
    } & ByUser)
  | ({ readonly kind: 'race'; readonly operations: readonly number[]; readonly document: string } & ByUser)
  | ({
      readonly kind: 'watch'
      readonly operation: number
      readonly transport: 'sse' | 'graphql socket' | 'live socket'
    } & ByUser)
  | {
      /** Redis is gone or frozen while something is changed. */
      readonly kind: 'outage'
      readonly fault: 'kill' | 'freeze'
      readonly document: string
      readonly place: number
      readonly probes: readonly Probe[]
    }
  /** The last gateway dies between a commit and what it would have told the others. */
  | { readonly kind: 'kill'; readonly document: string; readonly probes: readonly Probe[] }
  | { readonly kind: 'leave'; readonly client: number }
  | { readonly kind: 'wait'; readonly ms: number }
  | ({ readonly kind: 'attack'; readonly attack: 'guard' | 'origin'; readonly document: string } & ByUser)

export interface WorldPlan {
  /** `callers`: small, and about who asks alone. */
  readonly kind: 'free' | 'callers'
  readonly seed: number
  readonly world: number
  readonly schema: SchemaPlan
  readonly settings: SettingsPlan
  readonly users: readonly UserHeaders[]
}
