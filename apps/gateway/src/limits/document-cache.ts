import { createRecent, notePlace, type Room } from '@vinyasa/base'
import { documentBytes, withoutFrames } from '@vinyasa/pipeline'
import type { YogaServerOptions } from 'graphql-yoga'

/**
 * Creates the caches of texts that were parsed, in the room that their server has for documents. Yoga bounds their number
 * alone: a client that sends texts of a megabyte each, all comments, would fill the heap with 30 of them.
 */
export function documentCache(room: Room): YogaServerOptions<object, object>['parserAndValidationCache'] {
  const documents = createRecent<object>(room)
  const errors = createRecent<unknown>(room)
  return {
    documentCache: {
      get: (text) => documents.get(text) as never,
      set: (text, document) =>
        notePlace(document, documents.set(text, document, documentBytes(text, document))),
    },
    errorCache: {
      get: (text) => errors.get(text),
      set(text, error) {
        withoutFrames(error)
        errors.set(text, error, documentBytes(text))
      },
    },
  }
}
