import { createRecent } from '@vinyasa/base'
import type { OperationParams, PreparedDocument } from '../operation.ts'

/** Operations by the text that clients send; those that nobody asks for leave first. */
export interface PreparedDocuments {
  get(params: OperationParams): PreparedDocument | undefined
  add(params: OperationParams, prepared: PreparedDocument): void
  clear(): void
}

const MAX_OPERATIONS = 1_000
/** Limit in characters of all texts together: what a document costs grows with its text. */
const MAX_CHARACTERS = 524_288
const MAX_TEXT = 16_384

export function createPreparedDocuments(): PreparedDocuments {
  const known = createRecent<PreparedDocument>({ maxEntries: MAX_OPERATIONS, maxCharacters: MAX_CHARACTERS })
  // The name of an operation has no line break, so that name and text cannot run into one another. An empty name is none
  // of an operation, and not the same as no name.
  const keyOf = ({ query, operationName }: OperationParams): string =>
    operationName == null ? `\n${query}` : `.${operationName}\n${query}`

  return {
    get: (params) => known.get(keyOf(params)),
    add(params, prepared) {
      const key = keyOf(params)
      if (key.length <= MAX_TEXT) known.set(key, prepared)
    },
    clear: () => known.clear(),
  }
}
