import { createRoom, type Place, placeOf, type Room } from '../index.ts'
import { withoutTokens } from '../documents/index.ts'
import type { DocumentNode } from 'graphql'

/** Bytes of all documents that one server keeps, with what is worked out of them. */
const MAX_BYTES = 64 * 1024 * 1024
/** Measured: a document of ten fields takes 18 kB with its plan, one that has an error of syntax 4 kB. */
const DOCUMENT_BYTES = 3_000
/** A node of a document, with what is worked out of it. */
const BYTES_OF_NODE = 200
/** A text with characters that Latin-1 does not have takes two bytes a character. */
const BYTES_OF_CHARACTER = 2
/** Measured of an error of validation without frames; a document may have a hundred. */
const BYTES_OF_ERROR = 1_500
/** An entry of a map, and what it says of a document that has its place. */
export const ENTRY_BYTES = 500

/**
 * Creates the memory limit for the cached documents of one server. `maxBytes` has the default 67,108,864 (64 MiB); 0
 * disables caching.
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

/** Takes room for the errors of a document that is kept: who keeps it has them, too, until all of it leaves. */
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
