import { type PluginWithBehaviour, withBehaviour } from '@vinyasa/core/pipeline'
import { describeOperationVariesBy } from '@vinyasa/invalidation'
import type { IncomingMessage } from 'node:http'
import { resolve } from 'node:path'
import type { ResponseCacheOptions } from '@vinyasa/response-cache'
import type { UseLiveQueryOptions } from '@vinyasa/live-query'
import type { LiveServerOptions } from '@vinyasa/live-query/ws'
import type { Plugin, GraphQLParams } from 'graphql-yoga'
import type { AnswerSections } from '../answers/answer-types.ts'
import type { HttpSections } from '../http/http-types.ts'
import type { PresetSections } from '../presets.ts'
import type { RateLimitConfig, RateLimitSections, RateLimitRule } from '../rate-limit/rate-limit-types.ts'
import type { AccessSections, JwtConfig, AccessConfig, PolicyConfig } from './access-types.ts'
import { mistakeAt } from '../errors.ts'
import type { Logger } from '../logging/logger.ts'
import { checkAuth } from './tokens/check-auth.ts'
import { createAuthentication, type Authentication, useTokenExpiry } from './tokens/authentication.ts'
import { usesAccessDirectives } from './rules/directives.ts'
import { createMemoryStore, createRedisDocumentStore, useApq, hashIn, ofThisMoment } from './documents/apq.ts'
import { openRedis, type SharedRedis } from '../redis/open-redis.ts'
import { createOutage } from '../logging/outage.ts'
import type { ConfiguredRedis } from '../redis/servers.ts'
import { createClientAddress, type ClientAddress } from '../rate-limit/client-address.ts'
import {
  createMemoryCounters,
  createRedisCounters,
  type CountedRule,
  type Counters,
} from '../rate-limit/counters.ts'
import { createRateLimit, type RateLimit, countsOf } from '../rate-limit/rate-limit.ts'
import { isAddress, loadDocuments } from './documents/load-documents.ts'
import { usePersistedDocuments, idOf, onlyRegistered } from './documents/persisted-documents.ts'
import { identityOf, claimAt } from '../context/identity.ts'
import { tokenHeaders } from './tokens/token-place.ts'
import { backgroundClock, createAttachment, keyed } from '@vinyasa/core'
import {
  type GraphQLError,
  getOperationAST,
  type GraphQLSchema,
  defaultFieldResolver,
  type GraphQLFieldResolver,
} from 'graphql'
import { requestRefused } from '../http/errors.ts'
import { createAccessRules, type AccessRules, type Refusals } from './rules/access-rules.ts'
import { refusedOperation, refusedField } from './errors.ts'
import { useGuard } from '../use-guard.ts'
import type { Policies } from './rules/requirement.ts'
import { mapSchema, MapperKind } from '@graphql-tools/utils'

/**
 * A schema whose guarded fields fail where they are refused: null, path, lists, abstract types and what bubbles are
 * then GraphQL's own. The schema that it is made of stays as it is, so that who may have everything pays nothing.
 */
function createGuardedSchema(schema: GraphQLSchema, guarded: ReadonlySet<string>) {
  const refusals = createAttachment<Refusals>()

  function guard(
    coordinate: string,
    name: string,
    resolve: GraphQLFieldResolver<unknown, unknown>,
  ): typeof resolve {
    return (source, args, context, info) => {
      // A joined field may read its key through this one.
      const refused = info.fieldName === name ? refusals.get(context as object)?.get(coordinate) : undefined
      if (refused) throw refusedField(refused)
      return resolve(source, args, context, info)
    }
  }

  return {
    schema: mapSchema(schema, {
      [MapperKind.OBJECT_FIELD](field, name, typeName) {
        const coordinate = `${typeName}.${name}`
        if (!guarded.has(coordinate)) return undefined
        return { ...field, resolve: guard(coordinate, name, field.resolve ?? defaultFieldResolver) }
      },
    }),
    /** Sets the fields that fail in the operation with this context. */
    refuse: (context: object, refused: Refusals) => void refusals.set(context, refused),
  }
}

/** Creates the policies of the config. A policy that throws does not hold. */
function createPolicies(
  policies: AccessConfig['policies'] = {},
  onError: (error: unknown) => void,
): Policies {
  const meanings = new Map(Object.entries(policies).map(([name, policy]) => [name, meaningOf(policy)]))
  return {
    holds(name, identity) {
      try {
        // Only what is true lets in: not the promise of an answer, either.
        return meanings.get(name)?.(identity) === true
      } catch (error) {
        onError(new Error(`access.policies["${name}"] threw an error`, { cause: error }))
        return false
      }
    },
    comparesClaims: (name) => !Object.hasOwn(policies, name) || typeof policies[name] !== 'function',
  }
}

function meaningOf(policy: PolicyConfig): Extract<PolicyConfig, (...args: never[]) => boolean> {
  if (typeof policy === 'function') return policy
  const accepted: readonly unknown[] = policy.is
  return (identity) => {
    const claim = identity && claimAt(identity.claims, policy.claim)
    return (Array.isArray(claim) ? claim : [claim]).some((item) => accepted.includes(item))
  }
}

interface FieldRules {
  /** Behind the cache and `@defer`, before live queries. */
  readonly plugin: Plugin
  /** For the cache: who may share an answer; who is refused a part of one neither gets nor leaves any. */
  readonly accessOf: NonNullable<ResponseCacheOptions['access']>
}

/**
 * Refused fields are not executed: they are null, with an error, or the operation is refused. `headers`: request headers
 * that identify the caller, in lower case.
 */
function createFieldRules(
  { fields, policies, refuse = 'field' }: AccessConfig,
  headers: readonly string[],
  onError: (error: unknown) => void,
): FieldRules {
  const named = createPolicies(policies, onError)
  const rulesOf = keyed(
    (schema: GraphQLSchema) => createAccessRules(schema, fields, named),
    new WeakMap<GraphQLSchema, AccessRules>(),
  )
  const guardedOf = keyed(
    (schema: GraphQLSchema) => createGuardedSchema(schema, rulesOf(schema).guarded),
    new WeakMap<GraphQLSchema, ReturnType<typeof createGuardedSchema>>(),
  )

  return {
    plugin: useGuard(({ schema, document, operationName, contextValue }) => {
      const rules = rulesOf(schema)
      const touched = rules.inOperation(document, operationName)
      if (touched.fields.length === 0) return undefined
      const refused = rules.refusals(touched, identityOf(contextValue as object))
      if (refused.size === 0) return undefined
      const isQuery = getOperationAST(document, operationName)?.operation === 'query'
      const isRootRefused = touched.fields.some(({ isRoot, coordinate }) => isRoot && refused.has(coordinate))
      if (refuse === 'operation' || (!isQuery && isRootRefused)) {
        const isUnknown = [...refused.values()].includes('UNAUTHENTICATED')
        return { result: { errors: [refusedOperation(isUnknown ? 'UNAUTHENTICATED' : 'FORBIDDEN')] } }
      }
      const guarded = guardedOf(schema)
      return {
        schemaFor(context) {
          guarded.refuse(context as object, refused)
          return guarded.schema
        },
      }
    }),
    accessOf({ schema, document }) {
      const rules = rulesOf(schema)
      const touched = rules.inOperation(document)
      if (touched.fields.length === 0) return undefined
      return {
        headers,
        keyOf: (context) => (rules.refusals(touched, identityOf(context)).size === 0 ? '' : null),
      }
    },
  }
}

/** Where texts of documents may come from. */
type DocumentOrigins = Pick<AccessSections, 'apq' | 'persistedDocuments'>

/**
 * Refuses an operation of which nobody knows the text. It comes behind the plugins of the config, as one of them may know it:
 * Yoga's `usePersistedOperations` and `useAPQ` do.
 */
function useUnknownDocuments(origins: DocumentOrigins): PluginWithBehaviour {
  return withBehaviour(
    {},
    {
      changeParams(params, request) {
        const refusal = params.query ? undefined : refusalOf(params as GraphQLParams, request, origins)
        if (refusal) throw refusal
        return undefined
      },
    },
  )
}

/** Undefined: there is no id either, which Yoga says itself. */
function refusalOf(
  params: GraphQLParams,
  request: Request,
  { apq = false, persistedDocuments }: DocumentOrigins,
): GraphQLError | undefined {
  // With 200, as Apollo Server does: some clients read no bodies of other answers, and would not send the text.
  if (apq && hashIn(params) !== undefined)
    return ofThisMoment(200, 'PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound')
  if (persistedDocuments) {
    if (idOf(params, request) !== undefined)
      return requestRefused(404, 'PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound')
    return persistedDocuments.mode === 'only' ? onlyRegistered() : undefined
  }
  const { persistedQuery } = Object(params.extensions) as { readonly persistedQuery?: unknown }
  if (apq || typeof persistedQuery !== 'object' || persistedQuery === null) return undefined
  // In the words on which clients send the text, then and from then on.
  return ofThisMoment(200, 'PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported')
}

/**
 * Throws `ConfigError` for a rule by a header that clients choose, where no rule by address counts the same: it would
 * limit nobody who writes another header each time.
 */
function refuseOpenHeaders(rules: readonly RateLimitRule[]): void {
  const byAddress = rules.filter(({ by = 'address' }) => by === 'address')
  for (const [index, rule] of rules.entries()) {
    if (!isChosen(rule) || byAddress.some((other) => covers(other, rule))) continue
    throw mistakeAt(
      ['rateLimit', 'rules', index, 'by'],
      `a client can change this header to avoid the limit; add a rule by address that counts the same requests, or set trusted: true if a proxy in front of the gateway sets the header`,
    )
  }
}

function isChosen({ by }: RateLimitRule): boolean {
  return typeof by === 'object' && 'header' in by && by.trusted !== true
}

/** Whether `other` counts all that `rule` counts. */
function covers(other: RateLimitRule, rule: RateLimitRule): boolean {
  if (countsOf(other) === 'executions' && countsOf(rule) === 'requests') return false
  return includes(other.operations, rule.operations) && includes(other.fields, rule.fields)
}

/** Undefined: all there are. */
function includes(names: readonly string[] | undefined, others: readonly string[] | undefined): boolean {
  return names === undefined || others?.every((name) => names.includes(name)) === true
}

/** Refused tokens are logged together, once in so long. */
const REPORT_MS = 1_000
/** Limit of the issuers that one report names, as anybody can write them. */
const MAX_NAMES = 5
const MAX_CHARACTERS = 200

/** Logs who has issued tokens that no issuer of the config has: a config whose issuer is spelt otherwise looks the same. */
function logUnknownIssuers(logger: Logger, known: readonly string[]): (issuer: string) => void {
  const names = new Set<string>()
  const report = (): void => {
    logger.warn(
      { issuers: [...names], known },
      'refused tokens whose claim "iss" is missing or not listed in auth.jwt.issuers',
    )
    names.clear()
  }
  return (issuer) => {
    if (names.size === 0) backgroundClock.setTimeout(report, REPORT_MS)
    if (names.size < MAX_NAMES) names.add(issuer.slice(0, MAX_CHARACTERS))
  }
}

/**
 * Plugins and options that decide who may ask what, for each part of a gateway. All are empty if nothing is
 * configured.
 */
export interface Access {
  /** Before all others: who asks, and what the text of a registered document is. */
  readonly first: readonly Plugin[]
  /** Behind the plugins of the config, any of which may know a document by its id. */
  readonly behindPlugins: readonly Plugin[]
  /** Behind the cache and `@defer`, before live queries: what of an operation is refused. */
  readonly beforeLive: readonly Plugin[]
  readonly cache: Pick<ResponseCacheOptions, 'access' | 'varyHeaders'>
  readonly live: Pick<UseLiveQueryOptions, 'varyHeaders' | 'expiresAt'>
  readonly sockets: Pick<LiveServerOptions, 'onConnect' | 'connectionHeaders'>
  /** For each request, before it is looked at. */
  note(request: IncomingMessage): void
  close(): void
}

/** The sections of the config that are read here. */
interface ReadSections
  extends AccessSections, AnswerSections, HttpSections, PresetSections, RateLimitSections {
  readonly plugins?: readonly object[] | undefined
  readonly typeDefs?: string | readonly string[] | undefined
}

interface AccessEnvironment {
  readonly logger: Logger
  readonly baseDirectory: string
  readonly redis: ConfiguredRedis | undefined
}

export async function createAccess(
  config: ReadSections,
  { logger, baseDirectory, redis: configured }: AccessEnvironment,
): Promise<Access> {
  const { auth, access } = config
  checkAuth(config)
  refuseOpenHeaders(config.rateLimit?.rules ?? [])
  const headers = auth ? tokenHeaders(auth.jwt) : []
  const onError = (error: unknown): void => logger.error(error, 'access')
  const authentication = auth && (await openAuthentication(auth.jwt, logger))
  const [header = 'authorization'] = headers
  refuseBadApq(config)
  const documents = await openDocuments(config, baseDirectory, logger)
  // Last of what may fail: whoever throws has nothing to close.
  const redis = openSharedRedis(config, configured, logger)
  const rateLimit = config.rateLimit && openRateLimit(config, config.rateLimit, redis)
  const rules =
    auth || access || usesAccessDirectives([config.typeDefs ?? []].flat())
      ? createFieldRules(access ?? {}, headers, onError)
      : undefined
  return {
    first: [
      ...(authentication ? [authentication.plugin, useTokenExpiry()] : []),
      // Rate limits come before documents, so that requests for unknown documents count too.
      ...(rateLimit ? [rateLimit.limit.requests] : []),
      ...documents,
      ...openApq(config, redis),
    ],
    behindPlugins: [useUnknownDocuments(config)],
    beforeLive: [...(rateLimit ? [rateLimit.limit.executions] : []), ...(rules ? [rules.plugin] : [])],
    cache: cacheOptions(config, headers, rules),
    live: auth ? liveOptions(config, headers) : {},
    sockets: authentication
      ? {
          onConnect: (_connection, sent) => authentication.mayConnect(sent),
          connectionHeaders: [...new Set(['authorization', header])],
        }
      : {},
    note: (request) => rateLimit?.address.note(request),
    close: () => redis?.client.disconnect(),
  }
}

/** Undefined where nothing is shared. */
function openSharedRedis(
  { apq = false, rateLimit }: ReadSections,
  configured: ConfiguredRedis | undefined,
  logger: Logger,
): SharedRedis | undefined {
  if (!configured || !(apq || rateLimit)) return undefined
  return openRedis(
    configured.connect,
    createOutage(logger, {
      down: 'Redis is unavailable; gateway processes do not share rate limits or persisted queries (apq) until Redis is available again',
      up: 'Redis is available again; gateway processes share data through Redis again',
    }),
  )
}

function openRateLimit(
  { server, auth, plugins = [] }: ReadSections,
  { rules }: RateLimitConfig,
  redis: SharedRedis | undefined,
): { readonly limit: RateLimit; readonly address: ClientAddress } {
  // Code may say who asks too.
  const index = rules.findIndex(({ by }) => typeof by === 'object' && 'claim' in by)
  if (index >= 0 && !auth && plugins.length === 0)
    throw mistakeAt(
      ['rateLimit', 'rules', index, 'by'],
      `requests have no claims because the gateway reads no tokens; set auth.jwt, or count by address or header`,
    )
  const address = createClientAddress(server?.trustProxy)
  const counters = (rule: CountedRule): Counters => {
    const near = createMemoryCounters(rule)
    return redis ? createRedisCounters(rule, { redis: redis.client, outage: redis.outage, near }) : near
  }
  return { limit: createRateLimit({ rules, counters, address }), address }
}

function refuseBadApq({ apq = false, persistedDocuments }: ReadSections): void {
  if (!apq || persistedDocuments?.mode !== 'only') return
  throw mistakeAt(
    ['apq'],
    'persistedDocuments.mode "only" refuses documents that are not registered, so apq has no effect; remove apq, or change persistedDocuments.mode',
  )
}

function openApq({ apq = false }: ReadSections, redis: SharedRedis | undefined): readonly Plugin[] {
  if (!apq) return []
  const near = createMemoryStore()
  return [useApq(redis ? createRedisDocumentStore(near, redis) : near)]
}

/** The library that verifies tokens is loaded only where it is asked for. */
async function openAuthentication(config: JwtConfig, logger: Logger): Promise<Authentication> {
  const { createTokenVerifier } = await import('./tokens/token-verifier.ts')
  const onUnknownIssuer = logUnknownIssuers(
    logger,
    config.issuers.map(({ issuer }) => issuer),
  )
  return createAuthentication(config, createTokenVerifier({ ...config, logger, onUnknownIssuer }))
}

async function openDocuments(
  config: ReadSections,
  baseDirectory: string,
  logger: Logger,
): Promise<readonly Plugin[]> {
  const { persistedDocuments } = config
  if (!persistedDocuments) return []
  const documents = await loadDocuments(persistedDocuments.from, baseDirectory)
  if (documents.size === 0 && persistedDocuments.mode === 'only')
    throw mistakeAt(
      ['persistedDocuments', 'from'],
      'no documents are registered, so mode "only" would refuse all documents that clients send; register documents, or set persistedDocuments.mode to "log"',
    )
  return [usePersistedDocuments(documents, persistedDocuments, logger)]
}

/** Files and folders that registered documents are read from, for `--watch`. */
export function documentFiles(
  { persistedDocuments }: Pick<AccessSections, 'persistedDocuments'>,
  baseDirectory: string,
): readonly string[] {
  const places = [persistedDocuments?.from ?? []].flat()
  return places.filter((place) => !isAddress(place)).map((path) => resolve(baseDirectory, path))
}

/**
 * Returns the cache's options. Verified tokens are no part of its keys by themselves: what sources forward,
 * what rules say and what code of the config reads is.
 */
function cacheOptions(
  { auth, responseCache }: ReadSections,
  headers: readonly string[],
  rules: FieldRules | undefined,
): Access['cache'] {
  const written = typeof responseCache === 'object' ? responseCache.varyHeaders : undefined
  const { required = false, forwardClaims = {} } = auth?.jwt ?? {}
  const madeOfClaims = new Set(Object.keys(forwardClaims).map((name) => name.toLowerCase()))
  return {
    ...(rules && {
      access({ schema, document }) {
        const byRules = rules.accessOf({ schema, document })
        if (byRules) return byRules
        if (required) return { headers, keyOf: () => '' }
        const read = describeOperationVariesBy(schema, document).headers
        return read.some((name) => madeOfClaims.has(name)) ? { headers } : undefined
      },
    }),
    ...(auth && { varyHeaders: written ?? [] }),
  }
}

/** A run of a group is one of its subscribers' own, so tokens keep groups apart, whatever the config lists. */
function liveOptions({ liveQuery }: ReadSections, headers: readonly string[]): Access['live'] {
  const { contextKey, varyHeaders } = liveQuery === false || liveQuery === undefined ? {} : liveQuery
  const others = varyHeaders ?? (contextKey ? [] : ['authorization', 'cookie'])
  return {
    varyHeaders: [...others, ...headers],
    expiresAt: (context) => identityOf(context)?.expiresAt,
  }
}
