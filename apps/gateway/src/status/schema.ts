import { makeExecutableSchema } from '@graphql-tools/schema'
import type { GraphQLSchema } from 'graphql'
import type { ActivityReading } from '../observability/activity.ts'
import type { LiveReading } from '../observability/metrics/metrics.ts'

export interface BackendStatus {
  readonly name: string
  /** The kind of a source, or of a broker. */
  readonly kind: string
  readonly up: boolean
  readonly reason?: string | undefined
  readonly breaker?: 'off' | 'closed' | 'half-open' | 'open' | undefined
}

export interface StatusLink {
  readonly label: string
  readonly href: string
}

/** Readings that the figures come from, asked at every update. */
export interface StatusReadings {
  readonly version: string | undefined
  readonly preset: string
  readonly processId: number
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number
  readonly hasCache: boolean
  readonly links: readonly StatusLink[]
  readonly activity: () => ActivityReading
  readonly live: () => LiveReading | undefined
  readonly backends: () => Promise<readonly BackendStatus[]>
}

const TYPE_DEFS = /* GraphQL */ `
  type Query {
    status: Status!
  }

  "One process of the gateway, since it started or was reloaded."
  type Status {
    "Null before the first release."
    version: String
    preset: String!
    processId: Int!
    "Milliseconds since the Unix epoch."
    startedAt: Float!
    links: [Link!]!
    requests: Counts!
    "Null when the response cache is off."
    cache: Cache
    live: Live!
    backends: [Backend!]!
    "In answers over every transport, since the start."
    errorCount: Int!
    "The last twenty kinds of them, the last one first."
    errors: [RecentError!]!
  }

  type Link {
    label: String!
    href: String!
  }

  type Counts {
    calls: Int!
    failed: Int!
  }

  type Cache {
    "Answers that no backend was asked for."
    hits: Int!
    misses: Int!
    "Of hits and misses; null before the first of either."
    hitRate: Float
  }

  type Live {
    groups: Int!
    subscribers: Int!
    runs: Int!
    events: Int!
  }

  type Backend {
    name: String!
    "grpc, rest, redis or nats."
    kind: String!
    up: Boolean!
    "Why it is not."
    reason: String
    breaker: String
    requests: Counts!
  }

  type RecentError {
    at: Float!
    code: String!
    operation: String
    path: String
    count: Int!
  }
`

const NO_CALLS = { calls: 0, failed: 0 }

/** The schema behind the status page: the gateway's own, apart from the one that it serves. */
export function createStatusSchema(readings: StatusReadings): GraphQLSchema {
  const { version, preset, processId, startedAt, links, hasCache } = readings

  async function status(): Promise<Record<string, unknown>> {
    const backends = await readings.backends()
    const activity = readings.activity()
    const live = readings.live()
    return {
      version,
      preset,
      processId,
      startedAt,
      links,
      requests: activity.requests,
      cache: hasCache ? cacheOf(activity.cache) : null,
      live: {
        groups: live?.groups ?? 0,
        subscribers: live?.subscriptions ?? 0,
        runs: live?.executions ?? 0,
        events: live?.events ?? 0,
      },
      backends: backends.map(({ reason, ...backend }) => ({
        ...backend,
        reason: reason === undefined ? null : withoutSecrets(reason),
        requests: activity.backends[backend.name] ?? NO_CALLS,
      })),
      errors: activity.errors,
      errorCount: activity.errorCount,
    }
  }

  return makeExecutableSchema({ typeDefs: TYPE_DEFS, resolvers: { Query: { status } } })
}

function cacheOf({ hit = 0, stale = 0, coalesced = 0, miss = 0 }: ActivityReading['cache']): object {
  const hits = hit + stale + coalesced
  return { hits, misses: miss, hitRate: hits + miss === 0 ? null : hits / (hits + miss) }
}

/** Addresses without the user, password and query that they may hold. */
export function withoutSecrets(text: string): string {
  return text.replace(/\/\/[^/\s@]*@/g, '//').replace(/(\/\/[^\s?#]*)[?#][^\s)]*/g, '$1')
}
