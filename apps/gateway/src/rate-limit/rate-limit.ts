import { withBehaviour } from '@vinyasa/core/pipeline'
import { hash } from 'node:crypto'
import { getOperationAST, GraphQLError, type GraphQLSchema } from 'graphql'
import { after, attempt, isPromise, type MaybePromise } from '@vinyasa/core'
import type { Plugin } from 'graphql-yoga'
import { claimAt, type Identity, identityOf, oncePerToken } from '../context/identity.ts'
import type { RateLimitConfig, RateLimitRule } from './rate-limit-types.ts'
import { mistakeAt } from '../errors.ts'
import { fieldAt, inputFieldAt, suggestFor } from '../coordinates.ts'
import type { ClientAddress } from './client-address.ts'
import { countFields } from './count-fields.ts'
import { type GuardedOperation, useGuard, type Verdict } from '../use-guard.ts'
import type { Count, CountedRule, Counters } from './counters.ts'

export interface RateLimit {
  /** Counts what is asked: before the cache, so that hits count. */
  readonly requests: Plugin
  /** Counts what is executed: behind the cache. */
  readonly executions: Plugin
}

export interface RateLimitOptions extends Pick<RateLimitConfig, 'rules'> {
  /** Creates the counters of one rule. */
  readonly counters: (rule: CountedRule) => Counters
  readonly address: ClientAddress
}

interface Rule extends RateLimitRule {
  readonly counters: Counters
  /** The key for the claim of a token. Empty if the token does not have the claim. Undefined if the rule counts otherwise. */
  readonly claimKey: ((identity: Identity) => string) | undefined
}

/** Refuses with `RATE_LIMITED` who asks more often than the rules allow. Runs of a live query after its first are free. */
export function createRateLimit({ rules, counters, address }: RateLimitOptions): RateLimit {
  const names: string[] = []
  const counted = rules.map((rule): Rule => {
    const { max, windowSeconds } = rule
    const content = nameOf(rule)
    // A config may have a rule twice; each counts for itself.
    const name = `${content}:${names.filter((other) => other === content).length}`
    names.push(content)
    const { by } = rule
    const claimKey =
      typeof by === 'object' && 'claim' in by
        ? oncePerToken((identity) => claimKeyOf(identity, by.claim))
        : undefined
    return { ...rule, claimKey, counters: counters({ name, max, windowMs: windowSeconds * 1000 }) }
  })
  const ofRequests = counted.filter((rule) => countsOf(rule) === 'requests')
  const ofExecutions = counted.filter((rule) => countsOf(rule) === 'executions')

  /** Whom a rule counts: those who do not say who they are, by where they come from. */
  function clientOf({ by = 'address', claimKey }: Rule, context: object, headers: Headers): string {
    if (claimKey) {
      const identity = identityOf(context)
      const key = identity && claimKey(identity)
      if (key) return key
    } else if (typeof by === 'object' && 'header' in by) {
      const value = headers.get(by.header)
      if (value !== null) return `header:${digest(value)}`
    }
    return `address:${address.of(headers)}`
  }

  /** Throws for the first rule whose limit is passed. Where nothing but memory is asked, nobody waits. */
  function count(
    counting: readonly Rule[],
    timesOf: (rule: Rule) => number,
    context: object,
    request: Pick<Request, 'headers'>,
  ): MaybePromise<void> {
    for (const [index, rule] of counting.entries()) {
      const times = timesOf(rule)
      if (times === 0) continue
      const counted = rule.counters.add(clientOf(rule, context, request.headers), times)
      if (!isPromise(counted)) refuseOver(rule, counted)
      else {
        const rest = counting.slice(index + 1)
        return counted.then((found) => {
          refuseOver(rule, found)
          return count(rest, timesOf, context, request)
        })
      }
    }
  }

  function countRequest(context: object, request: Request): MaybePromise<void> {
    return isRerun(context) ? undefined : count(ofRequests, () => 1, context, request)
  }

  function countExecution(operation: GuardedOperation): MaybePromise<Verdict | undefined> {
    const context = operation.contextValue as { readonly request: Request }
    if (isRerun(context)) return undefined
    return attempt<Verdict | undefined>(
      () =>
        after(
          count(ofExecutions, (rule) => timesIn(rule, operation), context, context.request),
          () => undefined,
        ),
      (error) => {
        if (error instanceof GraphQLError) return { result: { errors: [error] } }
        throw error
      },
    )
  }

  return {
    requests: withBehaviour({}, { admit: (_params, request, context) => countRequest(context, request) }),
    executions: ofExecutions.length === 0 ? {} : useGuard(countExecution),
  }
}

/** The same for rules that count the same, in whatever order their lists are. Gateways with other rules share no counts. */
function nameOf(rule: RateLimitRule): string {
  const { by = 'address', max, windowSeconds, operations, fields } = rule
  const key =
    typeof by === 'string' ? by : 'claim' in by ? ['claim', by.claim] : ['header', by.header.toLowerCase()]
  const lists = [operations, fields].map((list) => list && [...new Set(list)].sort())
  return digest(JSON.stringify([key, max, windowSeconds, ...lists, countsOf(rule)]))
}

function refuseOver({ max }: Rule, { count: found, endsInMs }: Count): void {
  if (found > max) throw rateLimited(Math.max(1, Math.ceil(endsInMs / 1000)))
}

/** Throws `ConfigError` for a rule on a field that the schema does not have. */
export function checkRateLimit(schema: GraphQLSchema, { rules = [] }: Partial<RateLimitConfig> = {}): void {
  for (const [index, { fields = [] }] of rules.entries()) {
    for (const [at, coordinate] of fields.entries()) {
      if (fieldAt(schema, coordinate) ?? inputFieldAt(schema, coordinate)) continue
      throw mistakeAt(
        ['rateLimit', 'rules', index, 'fields', at],
        `the schema has no ${coordinate}${suggestFor(schema, coordinate) || '; write "Type.field", for example "Mutation.login"'}`,
      )
    }
  }
}

function timesIn({ operations, fields }: Rule, operation: GuardedOperation): number {
  const { schema, document, operationName } = operation
  const name = getOperationAST(document, operationName)?.name?.value
  if (operations && !(name !== undefined && operations.includes(name))) return 0
  return fields ? countFields(schema, document, operationName, new Set(fields)) : 1
}

function isRerun(context: object): boolean {
  const { liveQuery } = context as { readonly liveQuery?: { readonly first?: boolean } }
  return liveQuery !== undefined && liveQuery.first !== true
}

/** Empty if the identity does not have the claim. */
function claimKeyOf({ claims }: Identity, claim: string): string {
  const value = claimAt(claims, claim)
  if (value === undefined || value === null) return ''
  // A subject is one of its issuer (RFC 7519, section 4.1.2).
  const issuer = claim === 'sub' ? claims['iss'] : undefined
  return `claim:${digest(JSON.stringify([value, issuer]))}`
}

/** Keys of counters are of one length, and tell nobody who reads them what a client sent. */
function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 32)
}

function rateLimited(seconds: number): GraphQLError {
  return new GraphQLError(`Too many requests; try again in ${seconds} s.`, {
    extensions: {
      code: 'RATE_LIMITED',
      retryAfterSeconds: seconds,
      http: { status: 429, headers: { 'retry-after': String(seconds) } },
    },
  })
}

/**
 * Returns what a rule counts. A rule for operations or fields counts executions, as these are known only once
 * a document is parsed.
 */
export function countsOf({ counts, operations, fields }: RateLimitRule): 'requests' | 'executions' {
  return counts ?? (operations || fields ? 'executions' : 'requests')
}
