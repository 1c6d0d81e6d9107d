import { GraphQLError } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { JwtConfig } from '../access-types.ts'
import { unauthenticated } from '../errors.ts'
import { claimAt, type Identity } from '../../context/identity.ts'
import { tokenOf } from './token-place.ts'
import { withBehaviour } from '../../behaviour.ts'
import type { VerifyToken } from './token-verifier.ts'

export interface Authentication {
  /** Finds out who asks, for each request, each operation of a socket and each run of a live query. */
  readonly plugin: Plugin
  /** Whether a socket may open: not with a token that is not valid, or without one that must be there. */
  mayConnect(headers: Headers): Promise<boolean>
}

/** Knows who asks as `context.auth`, and sets the headers that are made of claims. */
export function createAuthentication(config: JwtConfig, verify: VerifyToken): Authentication {
  const { required = false, forwardClaims = {} } = config
  const forwarded = Object.entries(forwardClaims)

  function identify(headers: Headers): Identity | undefined | Promise<Identity> {
    const token = tokenOf(headers, config)
    if (token !== undefined) return verify(token)
    if (required) throw unauthenticated('This API requires authentication; send a token.')
    return undefined
  }

  function note(identity: Identity | undefined, request: Request, context: object): void {
    Object.assign(context, { auth: identity })
    for (const [header, claim] of forwarded) {
      const value = identity && headerValueOf(header, claim, identity)
      if (value === undefined) request.headers.delete(header)
      else request.headers.set(header, value)
    }
  }

  const plugin: Plugin = {
    onRequestParse({ request, serverContext }) {
      const found = identify(request.headers)
      if (found instanceof Promise) return found.then((identity) => note(identity, request, serverContext))
      return note(found, request, serverContext)
    },
  }

  return {
    plugin: withBehaviour(plugin, {
      // Before the cache looks whose answer it may give. Who is nobody is refused on the ordinary way.
      identify(request, context) {
        const goOn = (identity: Identity | undefined): true => {
          note(identity, request, context)
          return true
        }
        try {
          const found = identify(request.headers)
          return found instanceof Promise ? found.then(goOn).catch(() => false) : goOn(found)
        } catch {
          return false
        }
      },
    }),
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
