import type { Random } from '@vinyasa/test-kit'
import type { Arbitrary } from 'fast-check'
import type { Operation } from './operations.ts'
import type { Piece } from './config-file.ts'
import type { Answer, Asked, BesideCount, Run, Sent, Way } from './run.ts'
import type { Shelves } from './library.ts'
import type { Detour } from './known.ts'
import type { User } from './users.ts'

/** By the names of features: which value each has. */
export type Row = Readonly<Record<string, string>>

/** What a piece of the config may need to know of its surroundings. */
export interface Surroundings {
  /** The folder of the config file. */
  readonly folder: string
  /** `host:port` of the gRPC backend. */
  readonly grpc: string
  /** The REST backend's base URL. */
  readonly rest: string
  /** Kinds of operations that the row's clients ask. */
  readonly kinds: ReadonlySet<string>
  /** Empty without `needs: ['redis']`. */
  readonly redisUrl: string
  /** Empty without `needs: ['nats']`. */
  readonly natsUrl: string
}

/** What a feature can do while a gateway runs. */
export interface Session {
  /** `http://host:port` */
  readonly url: string
  /** Address of the GraphQL endpoint. */
  readonly endpoint: string
  readonly random: Random
  /** Headers that every request must have beside a user's. */
  readonly headers: Readonly<Record<string, string>>
  readonly states: readonly Shelves[]
  /** The way that operations take which must be sent by one. */
  readonly plainWay: Way
  /** Sends a signal to the gateway. */
  signal(name: NodeJS.Signals): void
  /** Sends one operation, and keeps what came in the run. */
  ask(user: User, operation: Operation, way?: Way, headers?: Readonly<Record<string, string>>): Promise<Sent>
  /** Tells observers that count of what the feature has sent by itself. */
  beside(what: BesideCount, times: number): void
  /** One request to the GraphQL endpoint that asks for nothing which the judge knows. */
  fetch(
    init: RequestInit,
  ): Promise<{ readonly status: number; readonly headers: Headers; readonly text: string }>
  /** What plain graphql-js answers to the user over a state of the shelves. */
  expected(operation: Operation, user: User, state: number): Answer
  /** Changes a title in the backend alone. */
  rename(id: string, title: string): void
  /** From now on nobody may see what was there before. */
  settle(): void
  /** Marks in an answer that are not the user's own. */
  foreign(answer: Answer, user: User): readonly string[]
  /** Keeps something for the observer. */
  keep(name: string, value: unknown): void
  /** How many requests were sent so far. */
  countSent(): number
  /** A violation that shows while it happens. */
  violate(what: string): void
}

/** One of the values that a feature may have in a row. */
export interface Value {
  readonly name: string
  /** Its piece of the config. Left out: nothing. */
  readonly config?: (surroundings: Surroundings) => Arbitrary<Piece>
  readonly needs?: readonly ('redis' | 'nats')[]
  /** Further arguments of `vinyasa start`. */
  readonly args?: readonly string[]
  /** Addresses of modules that are loaded before it. */
  readonly imports?: readonly string[]
  /** Whether it can stand in the row at all, of which a part may not be there yet. Default: in every one. */
  readonly fits?: (row: Row) => boolean
  /** Ways in that it opens. */
  readonly ways?: readonly Way[]
  /** It shuts every other way in. */
  readonly onlyWays?: readonly Way[]
  /** Kinds of operations that it adds. */
  readonly operations?: readonly string[]
  /** Headers that every request then needs. */
  readonly headers?: Readonly<Record<string, string>>
  /** Request headers that backends get, beside those that other features state. Where none does: the default ones. */
  readonly forwards?: { readonly grpc: readonly string[]; readonly rest: readonly string[] }
  /** Request headers that backends see in place of those that the user sent; undefined takes one away. */
  readonly derives?: (user: User) => Readonly<Record<string, string | undefined>>
  /** The code with which it keeps a field from a user, by coordinate. */
  readonly denies?: (coordinate: string, user: User) => string | undefined
  /** The code with which it refuses an operation. */
  readonly refuses?: (asked: Asked, sent: Sent, piece: Piece) => string | undefined
  /** Whether it refused the operation in the place of executing it, so that it counts as an operation. */
  readonly refusesLate?: (asked: Asked, sent: Sent) => boolean
  /** Where a known operation goes with it, besides the prepared path. */
  readonly enters?: readonly Detour[]
  /** Does something in the middle of what clients ask. */
  readonly between?: (session: Session) => Promise<void>
  /** How long what it does there may take, when clients have asked all else. */
  readonly afterwardsMs?: number
  /** Does something while the gateway runs; what it gives is called when all else is over. */
  readonly during?: (session: Session, piece: Piece) => Promise<(() => Promise<void>) | undefined>
  /** What it promises of a whole run: a sentence for each violation. */
  readonly observe?: (run: Run, piece: Piece) => Iterable<string>
}

/** One thing that a user may turn on, as data. */
export interface Feature {
  readonly name: string
  /** The top-level settings of the config that it draws. */
  readonly settings: readonly string[]
  /** The first is what is there when the feature is dropped. */
  readonly values: readonly [Value, ...Value[]]
}

/** A feature with the value that it has in a row, and what was drawn of its config. */
export interface Drawn {
  readonly feature: Feature
  readonly value: Value
  readonly piece: Piece
}
