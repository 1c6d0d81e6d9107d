import { withBehaviour } from '@vinyasa/core/pipeline'
import { GraphQLError, type ExecutionResult } from 'graphql'
import { type Plugin, isAsyncIterable } from 'graphql-yoga'
import type { JwtConfig } from '../access-types.ts'
import { unauthenticated } from '../errors.ts'
import { claimAt, type Identity, identityOf, oncePerToken } from '../../context/identity.ts'
import { tokenOf } from './token-place.ts'
import type { VerifyToken } from './token-verifier.ts'
import { after, atWallTime, backgroundClock, type Clock, OpenStreams } from '@vinyasa/core'

export interface Authentication {
  /** Finds out who asks, for each request, each operation of a socket and each run of a live query. */
  readonly plugin: Plugin
  /** Whether a socket may open: not with a token that is not valid, or without one that must be there. */
  mayConnect(headers: Headers): Promise<boolean>
}

/** Knows who asks as `context.auth`, and sets the headers that are made of claims. */
export function createAuthentication(config: JwtConfig, verify: VerifyToken): Authentication {
  const { required = false, forwardClaims = {} } = config
  const names = Object.keys(forwardClaims)
  const forwarded = oncePerToken((identity) =>
    Object.entries(forwardClaims).map(([header, claim]) => headerValueOf(header, claim, identity)),
  )

  function identify(headers: Headers): Identity | undefined | Promise<Identity> {
    const token = tokenOf(headers, config)
    if (token !== undefined) return verify(token)
    if (required) throw unauthenticated('This API requires authentication; send a token.')
    return undefined
  }

  function note(identity: Identity | undefined, request: Request, context: object): void {
    Object.assign(context, { auth: identity })
    const values = identity && names.length > 0 ? forwarded(identity) : []
    for (const [index, header] of names.entries()) {
      const value = values[index]
      if (value === undefined) request.headers.delete(header)
      else request.headers.set(header, value)
    }
  }

  return {
    plugin: withBehaviour(
      {},
      {
        checkRequest: (request, context) =>
          after(identify(request.headers), (identity) => note(identity, request, context)),
      },
    ),
    async mayConnect(headers) {
      try {
        await identify(headers)
        return true
      } catch (error) {
        // Keys that are not to be had now may be when an operation comes.
        return !(error instanceof GraphQLError && error.extensions['code'] === 'UNAUTHENTICATED')
      }
    },
  }
}

/** A claim in UTF-8, as other proxies send it, or in base64 as gRPC has it for `-bin`. Undefined: it has no value. */
function headerValueOf(header: string, claim: string, { claims }: Identity): string | undefined {
  const items = [claimAt(claims, claim) ?? []].flat() as readonly unknown[]
  const text = items.join(',')
  if (!items.every(isPlain) || text.trim() !== text || /[\p{Cc}\p{Cs}]/u.test(text))
    // Backends would take the request for an anonymous one.
    throw unauthenticated(
      `The token's claim "${claim}" cannot be sent in a header; expected strings, numbers or booleans without surrounding spaces, control characters or invalid Unicode.`,
    )
  return text === '' ? undefined : Buffer.from(text).toString(/-bin$/i.test(header) ? 'base64' : 'latin1')
}

function isPlain(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}

/** Ends subscriptions with `UNAUTHENTICATED` when the token expires by which they were allowed. */
export function useTokenExpiry(clock: Clock = backgroundClock): Plugin {
  const subscribed = new WeakSet<object>()
  return withBehaviour({
    onSubscribe({ args }) {
      subscribed.add(args.contextValue as object)
    },
    // Around all that Envelop does with results, which makes a result of what a stream throws.
    onExecutionResult({ result, context, setResult }) {
      const identity = subscribed.has(context) ? identityOf(context) : undefined
      if (!identity || !isAsyncIterable(result)) return
      const isSocket = 'connectionParams' in context
      setResult(until(identity.expiresAt, result, { clock, isSocket }) as never)
    },
  })
}

/** By hand: an async generator would not hear of a client that leaves before its next result. */
function until(
  expiresAt: number,
  results: AsyncIterable<ExecutionResult>,
  { clock, isSocket }: { readonly clock: Clock; readonly isSocket: boolean },
): AsyncIterableIterator<ExecutionResult> {
  // No race with a promise that lives as long as the token: it would keep every result until then.
  const open = new OpenStreams()
  const stream = open.add(results[Symbol.asyncIterator]())
  let hasExpired = false
  const timer = atWallTime(clock, expiresAt, () => {
    hasExpired = true
    open.close()
  })

  return {
    [Symbol.asyncIterator]() {
      return this
    },
    async next() {
      const step = (await stream.next()) as IteratorResult<ExecutionResult>
      if (!step.done) return step
      timer.stop()
      if (!hasExpired) return step
      hasExpired = false
      const error = unauthenticated('The token has expired; subscribe again with a new token.', true)
      // On a socket the message `error`; an event stream has no such thing.
      if (isSocket) throw error
      return { done: false, value: { errors: [error] } }
    },
    async return() {
      timer.stop()
      // Not awaited: a source that hangs must not hold the end up.
      open.close()
      return { done: true, value: undefined }
    },
  }
}
