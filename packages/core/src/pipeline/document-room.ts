import { createRoom, type Place, placeOf, type Room } from '../index.ts'
import { withoutTokens } from '../documents/index.ts'
import type { DocumentNode } from 'graphql'

/**
 * Memory limit if `maxBytes` is not set. It includes the documents of one server and the values derived from
 * them.
 */
const MAX_BYTES = 64 * 1024 * 1024
/**
 * Base size of a document. A document of ten fields was measured at 18 kB with its plan, and a document with
 * a syntax error at 4 kB.
 */
const DOCUMENT_BYTES = 3_000
/** Bytes per node of a document, including the values derived from it. */
const BYTES_OF_NODE = 200
/** Bytes per character of a string with characters outside of Latin-1. */
const BYTES_OF_CHARACTER = 2
/** Measured size of a validation error without stack frames. A document can have a hundred errors. */
const BYTES_OF_ERROR = 1_500
/** Size of a map entry for a document. The document is counted in its own entry. */
export const ENTRY_BYTES = 500

/**
 * Creates the memory limit for the cached documents of one server. `maxBytes` is 67,108,864 (64 MiB) by
 * default. 0 disables caching.
 */
export function createDocumentRoom(maxBytes: number = MAX_BYTES): Room {
  return createRoom(maxBytes)
}

/**
 * Estimates the memory in bytes of a document's text, and of its parsed document or its error. Plans are not
 * included. Removes the tokens of the parsed document.
 */
export function documentBytes(text: string, document?: DocumentNode): number {
  const nodes = document ? withoutTokens(document) : 0
  return DOCUMENT_BYTES + nodes * BYTES_OF_NODE + text.length * BYTES_OF_CHARACTER
}

const held = new WeakMap<readonly unknown[], Place>()

/**
 * Adds the errors of a cached document to the memory limit. The errors are cached with the document, and both
 * are evicted together.
 */
export function holdErrors(document: DocumentNode, errors: readonly unknown[]): void {
  const place = placeOf(document)
  if (!place || held.get(errors) === place) return
  held.set(errors, place)
  let bytes = 0
  for (const error of errors) {
    withoutFrames(error)
    bytes += BYTES_OF_ERROR + String((error as Error).message).length * BYTES_OF_CHARACTER
  }
  place.hold(bytes, () => place.leave())
}

/** Removes the stack frames of an error, because they keep the request alive while the error is cached. */
export function withoutFrames(error: unknown): void {
  if (error instanceof Error) Reflect.set(error, 'stack', `${error.name}: ${error.message}`)
}
