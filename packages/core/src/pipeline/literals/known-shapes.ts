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

/** Documents by what is left of them without their literals; those that nobody asks for leave first. */
export interface KnownShapes {
  /** A document that differs from a known one in its literals alone. */
  find(params: OperationParams): Asked | undefined
  /** `admits`: whether it may be remembered. */
  add(
    query: string,
    schema: GraphQLSchema,
    document: DocumentNode,
    admits: (prepared: PreparedDocument) => boolean,
  ): void
  clear(): void
}

const MAX_TEXT = 16_384
/** The most documents of one shape; they differ in the literals that stay. */
const MAX_FORMS = 4

export function createKnownShapes(room: Room): KnownShapes {
  const known = createRecent<readonly LiftedOperation[]>(room)
  /** A document that comes once need not be made fit for others: a shape is, when it comes for the second time. */
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
        // No document that is lifted has variables of these names.
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

/** Whether a request means its operation, which is the only one. */
function isNamed({ prepared }: LiftedOperation, { operationName }: OperationParams): boolean {
  return operationName == null || operationName === prepared.definition.name?.value
}
