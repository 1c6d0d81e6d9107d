import { createRecent, notePlace, placeOf, type Room } from '@vinyasa/base'
import type { OperationParams, PreparedDocument } from '../operation.ts'
import { documentBytes, ENTRY_BYTES } from '../document-room.ts'

/** Operations by the text that clients send; those that nobody asks for leave first. */
export interface PreparedDocuments {
  get(params: OperationParams): PreparedDocument | undefined
  add(params: OperationParams, prepared: PreparedDocument): void
  clear(): void
}

export function createPreparedDocuments(room: Room): PreparedDocuments {
  const known = createRecent<PreparedDocument>(room)
  // The name of an operation has no line break, so that name and text cannot run into one another. An empty name is none
  // of an operation, and not the same as no name.
  const keyOf = ({ query, operationName }: OperationParams): string =>
    operationName == null ? `\n${query}` : `.${operationName}\n${query}`

  return {
    get: (params) => known.get(keyOf(params)),
    add(params, prepared) {
      const key = keyOf(params)
      const whole = placeOf(prepared.document)
      const place = known.set(key, prepared, whole ? key.length + ENTRY_BYTES : documentBytes(key), whole)
      if (!whole) notePlace(prepared.document, place)
    },
    clear: () => known.clear(),
  }
}
