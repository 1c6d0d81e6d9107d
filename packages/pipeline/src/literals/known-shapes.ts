import { createRecent } from '@vinyasa/base'
import type { DocumentNode, GraphQLSchema } from 'graphql'
import type { OperationParams, PreparedDocument } from '../operation.ts'
import { liftedValues, liftLiterals, type LiftedOperation } from './lift-literals.ts'
import { type ScannedText, scanLiterals } from './scan-literals.ts'

/** A request for a document that differs from a known one in its literals alone. */
export interface LiftedRequest {
  readonly lifted: LiftedOperation
  /** The parameters that ask for the same with variables. */
  readonly params: OperationParams
}

/** Documents by what is left of them without their literals; those that nobody asks for leave first. */
export interface KnownShapes {
  find(params: OperationParams): LiftedRequest | undefined
  /** `admits`: whether it may be remembered. */
  add(
    params: Pick<OperationParams, 'query' | 'operationName'>,
    schema: GraphQLSchema,
    document: DocumentNode,
    admits: (prepared: PreparedDocument) => boolean,
  ): void
  clear(): void
}

const MAX_SHAPES = 500
/** Limit in characters of all shapes together: what a document costs grows with its text. */
const MAX_CHARACTERS = 262_144
const MAX_TEXT = 16_384
/** The most documents of one shape; they differ in the literals that stay. */
const MAX_FORMS = 4
/** A document that comes once need not be made fit for others: a shape is, when it comes for the second time. */
const MAX_SEEN = 1_000

export function createKnownShapes(): KnownShapes {
  const known = createRecent<readonly LiftedOperation[]>({
    maxEntries: MAX_SHAPES,
    maxCharacters: MAX_CHARACTERS,
  })
  const seen = new Set<string>()
  let seenCharacters = 0

  function scan(query: string): ScannedText | undefined {
    return query.length <= MAX_TEXT ? scanLiterals(query) : undefined
  }

  function isNew(shape: string): boolean {
    if (forget(shape)) return false
    seen.add(shape)
    seenCharacters += shape.length
    for (const oldest of seen) {
      if (seen.size <= MAX_SEEN && seenCharacters <= MAX_CHARACTERS) break
      forget(oldest)
    }
    return true
  }

  function forget(shape: string): boolean {
    const isSeen = seen.delete(shape)
    if (isSeen) seenCharacters -= shape.length
    return isSeen
  }

  return {
    find(params) {
      if (known.size === 0) return undefined
      const scanned = scan(params.query)
      const forms = scanned && known.get(scanned.shape)
      if (!scanned || !forms) return undefined
      for (const lifted of forms) {
        const values = isNamed(lifted, params) ? liftedValues(lifted, scanned) : undefined
        // No document that is lifted has variables of these names.
        const variables = values && { ...params.variables, ...values }
        if (variables) return { lifted, params: { query: lifted.query, variables } }
      }
      return undefined
    },
    add({ query }, schema, document, admits) {
      const scanned = scan(query)
      if (!scanned) return
      const forms = known.get(scanned.shape) ?? []
      if (forms.length >= MAX_FORMS || (forms.length === 0 && isNew(scanned.shape))) return
      const lifted = liftLiterals(query, scanned, schema, document)
      if (!lifted || !admits(lifted.prepared)) return
      known.set(scanned.shape, [...forms, lifted])
    },
    clear() {
      known.clear()
      seen.clear()
      seenCharacters = 0
    },
  }
}

/** Whether a request means its operation, which is the only one. */
function isNamed({ prepared }: LiftedOperation, { operationName }: OperationParams): boolean {
  return operationName == null || operationName === prepared.definition.name?.value
}
