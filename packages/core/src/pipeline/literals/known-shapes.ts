import { createRecent, notePlace, type Room } from '../../index.ts'
import type { DocumentNode, GraphQLSchema } from 'graphql'
import { documentBytes, ENTRY_BYTES } from '../document-room.ts'
import type { OperationParams, PreparedDocument } from '../operation.ts'
import { liftedValues, liftLiterals, type LiftedOperation } from './lift-literals.ts'
import { type ScannedText, scanLiterals } from './scan-literals.ts'

/** Operation of a request with its cached document. */
export interface Asked {
  readonly params: OperationParams
  readonly prepared: PreparedDocument
  /** Parameters that the client sent. `params` differ if variables replace literals. */
  readonly sent: OperationParams
  readonly lifted: LiftedOperation | undefined
}

/** Caches documents by their text without literals. Unused documents are evicted first. */
export interface KnownShapes {
  /** Returns a cached document that differs from the request only in literals. */
  find(params: OperationParams): Asked | undefined
  /** Adds a document. `admits` returns whether the document can be cached. */
  add(
    query: string,
    schema: GraphQLSchema,
    document: DocumentNode,
    admits: (prepared: PreparedDocument) => boolean,
  ): void
  clear(): void
}

const MAX_TEXT = 16_384
/** Maximum number of documents per shape. They differ in the literals that are not replaced. */
const MAX_FORMS = 4

export function createKnownShapes(room: Room): KnownShapes {
  const known = createRecent<readonly LiftedOperation[]>(room)
  /**
   * Shapes that were requested once. Literals are replaced only when a shape is requested for the second
   * time, because documents that are sent once are not reused.
   */
  const seen = createRecent<true>(room)

  function scan(query: string): ScannedText | undefined {
    return query.length <= MAX_TEXT ? scanLiterals(query) : undefined
  }

  function isNew(shape: string): boolean {
    if (seen.get(shape)) return false
    seen.set(shape, true, shape.length + ENTRY_BYTES)
    return true
  }

  return {
    find(sent) {
      const scanned = scan(sent.query)
      const forms = scanned && known.get(scanned.shape)
      if (!scanned || !forms) return undefined
      for (const lifted of forms) {
        const values = isNamed(lifted, sent) ? liftedValues(lifted, scanned) : undefined
        // The names do not conflict, because documents with variables of these names are not lifted.
        const variables = values && { ...sent.variables, ...values }
        const { query, prepared } = lifted
        if (variables) return { params: { query, variables }, prepared, sent, lifted }
      }
      return undefined
    },
    add(query, schema, document, admits) {
      const scanned = scan(query)
      if (!scanned) return
      const forms = known.get(scanned.shape) ?? []
      if (forms.length >= MAX_FORMS || (forms.length === 0 && isNew(scanned.shape))) return
      const lifted = liftLiterals(query, scanned, schema, document)
      if (!lifted || !admits(lifted.prepared)) return
      const all = [...forms, lifted]
      let bytes = 0
      for (const { prepared } of all) bytes += documentBytes(query, prepared.document)
      const place = known.set(scanned.shape, all, bytes)
      for (const { prepared } of all) notePlace(prepared.document, place)
    },
    clear() {
      known.clear()
      seen.clear()
    },
  }
}

/** Returns whether a request selects the operation, which is the only operation of the document. */
function isNamed({ prepared }: LiftedOperation, { operationName }: OperationParams): boolean {
  return operationName == null || operationName === prepared.definition.name?.value
}
