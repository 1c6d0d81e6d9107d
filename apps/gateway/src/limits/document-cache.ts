import { LRUCache } from 'lru-cache'
import type { YogaServerOptions } from 'graphql-yoga'

/** Characters of query text in one cache. What a document costs grows with its text, up to 200 bytes a character. */
const MAX_CHARACTERS = 524_288
const MAX_TEXTS = 1024

/**
 * Creates the caches of texts that were parsed. Yoga bounds their number alone: a client that sends texts of
 * a megabyte each, all comments, would fill the heap with 30 of them.
 */
export function documentCache(): YogaServerOptions<object, object>['parserAndValidationCache'] {
  const bounded = <Value extends object>(): LRUCache<string, Value> =>
    new LRUCache({
      max: MAX_TEXTS,
      maxSize: MAX_CHARACTERS,
      sizeCalculation: (_, text) => Math.max(1, text.length),
    })
  return { documentCache: bounded(), errorCache: bounded<Error>() }
}
