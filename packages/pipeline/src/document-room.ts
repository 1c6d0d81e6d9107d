import { createRoom, type Room } from '@vinyasa/base'

/** Bytes of all documents that one server keeps, with what is worked out of them. */
const MAX_BYTES = 64 * 1024 * 1024
/**
 * A document with all that follows from it, and what it takes beside for a character of its text: measured 14,000 and 85 for
 * ordinary ones, and more where each character selects something.
 */
const DOCUMENT_BYTES = 10_000
const BYTES_OF_CHARACTER = 100
/** An entry of a map, and what it says of a document that has its place. */
export const ENTRY_BYTES = 500

/** Creates the room that one server has for documents: 64 MiB. */
export function createDocumentRoom(): Room {
  return createRoom(MAX_BYTES)
}

/** The bytes that a document of that text takes, its plans aside. */
export function documentBytes(text: string): number {
  return DOCUMENT_BYTES + text.length * BYTES_OF_CHARACTER
}
