import { type DocumentNode, getOperationAST, type GraphQLSchema } from 'graphql'
import { createRecent, notePlace, placeOf, type Room } from '../index.ts'
import { documentBytes, ENTRY_BYTES } from './document-room.ts'
import { type Asked, createKnownShapes, type KnownShapes } from './literals.ts'
import type { OperationParams, PreparedDocument } from './operation.ts'

/** Caches the parsed and validated documents of one server until its schema changes. */
export class Known {
  /** Memory limit of the documents and of everything derived from them. */
  readonly room: Room
  /**
   * Documents by the string that clients send, with one item per operation name. Unused documents are evicted
   * first.
   */
  readonly #documents: ReturnType<typeof createRecent<PreparedDocument[]>>
  readonly #shapes: KnownShapes | undefined
  readonly #onClear: (() => void)[] = []

  constructor(room: Room, liftsLiterals: boolean) {
    this.room = room
    this.#documents = createRecent(room)
    this.#shapes = liftsLiterals ? createKnownShapes(room) : undefined
  }

  get({ query, operationName }: OperationParams): PreparedDocument | undefined {
    for (const prepared of this.#documents.get(query) ?? NONE)
      if (isName(prepared.operationName, operationName)) return prepared
    return undefined
  }

  /**
   * Returns the cached document of a request. Returns `undefined` for a mutation by GET, which Yoga refuses when it
   * parses the document. `seesLiterals` is true if a plugin can read the values in documents.
   */
  find(params: OperationParams, method: string, seesLiterals: boolean): Asked | undefined {
    const prepared = this.get(params)
    const whole = prepared && { params, prepared, sent: params, lifted: undefined }
    const asked = whole ?? (seesLiterals ? undefined : this.#shapes?.find(params))
    return method === 'GET' && asked?.prepared.definition.operation !== 'query' ? undefined : asked
  }

  /** Caches a document, or its `errors` if it is invalid. `lifts` returns whether its literals can become variables. */
  add(
    params: OperationParams,
    schema: GraphQLSchema,
    document: DocumentNode,
    lifts: (prepared: PreparedDocument) => boolean,
    errors?: readonly unknown[],
  ): void {
    const { query, operationName } = params
    const definition = getOperationAST(document, operationName)
    if (!definition) return
    const prepared: PreparedDocument = { schema, document, definition, operationName, errors }
    const known = this.#documents.get(query)
    if (known?.[0]?.document === document) {
      const at = known.findIndex((one) => isName(one.operationName, operationName))
      known[at === -1 ? known.length : at] = prepared
    } else {
      const whole = placeOf(document)
      const bytes = whole ? query.length + ENTRY_BYTES : documentBytes(query, document)
      const place = this.#documents.set(query, [prepared], bytes, whole)
      if (!whole) notePlace(document, place)
    }
    const isExecuted = definition.operation !== 'subscription' && !errors
    if (isExecuted && lifts(prepared)) this.#shapes?.add(query, schema, document, lifts)
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

const NONE: readonly PreparedDocument[] = []

/**
 * Returns whether two operation names are equal. An empty name differs from a missing name, and does not
 * select an operation.
 */
function isName(one: OperationParams['operationName'], other: OperationParams['operationName']): boolean {
  return one === other || (one == null && other == null)
}
