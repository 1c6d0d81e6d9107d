import { withBehaviour } from '@vinyasa/core/pipeline'
import { hash } from 'node:crypto'
import { GraphQLError } from 'graphql'
import { after } from '@vinyasa/core'
import type { GraphQLParams, Plugin } from 'graphql-yoga'
import { LRUCache } from 'lru-cache'
import type { SharedRedis } from '../../redis/open-redis.ts'

/** Texts by their hashes. One that is gone is sent again by whoever wants it. */
export interface DocumentStore {
  get(hash: string): string | undefined | Promise<string | undefined>
  set(hash: string, text: string): void
}

/** Bytes of the texts in memory. */
const APQ_BYTES = 16 * 1024 * 1024

/** Keeps the texts that were asked for last. None may take more than a sixteenth of the place. */
export function createMemoryStore(maxBytes: number = APQ_BYTES): DocumentStore {
  const texts = new LRUCache<string, string>({
    maxSize: Math.max(1, maxBytes),
    maxEntrySize: Math.max(1, Math.floor(maxBytes / 16)),
    // Two bytes a character at most, and what an entry costs by itself.
    sizeCalculation: (text) => text.length * 2 + 256,
  })
  return { get: (hash) => texts.get(hash), set: (hash, text) => void texts.set(hash, text) }
}

/** How long Redis keeps a text that is not sent again. */
const TTL_SECONDS = 86_400

/** Shares texts with other gateways. What Redis holds is believed only as far as its hash is right. */
export function createRedisDocumentStore(
  near: DocumentStore,
  { client, outage }: SharedRedis,
): DocumentStore {
  const keyOf = (hash: string): string => `vinyasa:apq:${hash}`

  async function ask(sha256: string): Promise<string | undefined> {
    try {
      const text = await client.getrange(keyOf(sha256), 0, APQ_BYTES / 16)
      outage.worked()
      if (hash('sha256', text) !== sha256) return undefined
      near.set(sha256, text)
      return text
    } catch (error) {
      outage.failed(error)
      return undefined
    }
  }

  return {
    get: (hash) => near.get(hash) ?? ask(hash),
    set(hash, text) {
      near.set(hash, text)
      if (text.length > APQ_BYTES / 16) return
      client.set(keyOf(hash), text, 'EX', TTL_SECONDS).catch((error: unknown) => outage.failed(error))
    },
  }
}

/**
 * Automatic persisted queries, as Apollo's and urql's clients ask for them: a hash alone first, and the text with it once
 * the hash is not known. The text then takes its place before anything looks at it, so that hits, plans, live queries and
 * sockets know no difference. A hash that is not known is for the plugins behind, and refused behind those.
 */
export function useApq(store: DocumentStore): Plugin {
  return withBehaviour(
    {},
    {
      changeParams(given) {
        const params = given as GraphQLParams
        const sent = hashIn(params)
        if (sent === undefined) return undefined
        const { query } = params
        if (query) {
          if (hash('sha256', query) !== sent)
            throw ofThisMoment(
              400,
              'PERSISTED_QUERY_MISMATCH',
              'extensions.persistedQuery.sha256Hash does not match the query; send the SHA-256 hash of the exact query text.',
            )
          store.set(sent, query)
          return withText(params, query)
        }
        return after(store.get(sent), (text) => (text === undefined ? undefined : withText(params, text)))
      },
    },
  )
}

/** The hash that a client of automatic persisted queries sends. */
export function hashIn({ extensions }: GraphQLParams): string | undefined {
  const { persistedQuery } = Object(extensions) as { readonly persistedQuery?: unknown }
  const { version, sha256Hash } = Object(persistedQuery) as { version?: unknown; sha256Hash?: unknown }
  if (version !== 1 || typeof sha256Hash !== 'string') return undefined
  const hash = sha256Hash.toLowerCase()
  // A value that is no hash must not become a key of a store: `none` is never found.
  return /^[0-9a-f]{64}$/.test(hash) ? hash : 'none'
}

/** The parameters with a text in the place of its id. */
export function withText(
  { operationName, variables, extensions }: GraphQLParams,
  query: string,
): Readonly<Record<string, unknown>> & GraphQLParams {
  const { persistedQuery: _, ...others } = extensions ?? {}
  return { query, operationName, variables, extensions: extensions && others }
}

/** A refusal that nobody between the client and us may keep. */
export function ofThisMoment(status: number, code: string, message: string): GraphQLError {
  const http = { status, headers: { 'cache-control': 'no-store' } }
  return new GraphQLError(message, { extensions: { code, http } })
}
