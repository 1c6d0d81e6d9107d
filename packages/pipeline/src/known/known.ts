import type { Room } from '@vinyasa/base'
import { getOperationAST, type DocumentNode, type GraphQLSchema } from 'graphql'
import { createKnownShapes, type KnownShapes } from '../literals/known-shapes.ts'
import type { LiftedOperation } from '../literals/lift-literals.ts'
import type { OperationParams, PreparedDocument } from '../operation.ts'
import { createPreparedDocuments, type PreparedDocuments } from './prepared-documents.ts'

/** The operation that a client asks for, and the document that was prepared for it. */
export interface Asked {
  readonly params: OperationParams
  readonly prepared: PreparedDocument
  /** The client's own parameters; `params` are others where variables replace literals. */
  readonly sent: OperationParams
  readonly lifted: LiftedOperation | undefined
}

/** Documents of one server that were parsed and validated, until its schema is another one. */
export class Known {
  /** Room for them, and for all that is kept of them. */
  readonly room: Room
  readonly #documents: PreparedDocuments
  readonly #shapes: KnownShapes | undefined
  readonly #onClear: (() => void)[] = []

  constructor(room: Room, liftsLiterals: boolean) {
    this.room = room
    this.#documents = createPreparedDocuments(room)
    this.#shapes = liftsLiterals ? createKnownShapes(room) : undefined
  }

  get(params: OperationParams): PreparedDocument | undefined {
    return this.#documents.get(params)
  }

  /** `seesLiterals`: somebody may look at the values in documents. */
  find(params: OperationParams, seesLiterals: boolean): Asked | undefined {
    const prepared = this.#documents.get(params)
    if (prepared) return { params, prepared, sent: params, lifted: undefined }
    const found = seesLiterals ? undefined : this.#shapes?.find(params)
    return (
      found && { params: found.params, prepared: found.lifted.prepared, sent: params, lifted: found.lifted }
    )
  }

  /** Remembers a valid document. `lifts`: whether its literals may be lifted. */
  add(
    { query, operationName }: OperationParams,
    schema: GraphQLSchema,
    document: DocumentNode,
    lifts: (prepared: PreparedDocument) => boolean,
  ): void {
    const definition = getOperationAST(document, operationName)
    if (!definition) return
    const prepared: PreparedDocument = { schema, document, definition, operationName }
    this.#documents.add({ query, operationName }, prepared)
    if (definition.operation === 'query' && lifts(prepared))
      this.#shapes?.add({ query, operationName }, schema, document, lifts)
  }

  onClear(clear: () => void): void {
    this.#onClear.push(clear)
  }

  clear(): void {
    this.#documents.clear()
    this.#shapes?.clear()
    for (const clear of this.#onClear) clear()
  }
}
