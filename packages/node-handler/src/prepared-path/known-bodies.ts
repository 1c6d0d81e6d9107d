import { createRecent, placeOf, type Room } from '@vinyasa/core'
import type { Operation, OperationParams, PreparedDocument } from '@vinyasa/core/pipeline'

/** The operation that follows from the bytes of a body alone, or from the target of a GET. */
export interface KnownBody extends NonNullable<Operation['sameBytes']> {
  readonly prepared: PreparedDocument
  /** For one request: nothing that it does to them reaches another's. */
  params(): OperationParams
}

/**
 * Bodies and targets that come again and again: what was read in them once, and found to be within all limits. The one is
 * no other: a target begins with a slash, which JSON does not.
 */
export interface KnownBodies {
  get(body: Buffer | string): KnownBody | undefined
  add(body: Buffer | string, params: OperationParams, prepared: PreparedDocument): void
  clear(): void
}

const MAX_BODY = 4_096
/** Beside the body, which its parameters are made of. */
const ENTRY_BYTES = 500

/** Bodies leave with the document that they ask for. */
export function createKnownBodies(room: Room): KnownBodies {
  const known = createRecent<KnownBody>(room)
  return {
    get: (body) => (body.length <= MAX_BODY ? known.get(keyOf(body)) : undefined),
    add(body, params, prepared) {
      const whole = placeOf(prepared.document)
      if (!whole || body.length > MAX_BODY || !isFlat(params.variables)) return
      // The document has the text already.
      const text = prepared.document.loc?.source.body
      const kept = text === params.query ? { ...params, query: text } : params
      const entry: KnownBody = {
        prepared,
        params: () => copyOf(kept),
        ask: (asked) => isSame(kept, asked),
      }
      known.set(keyOf(body), entry, 3 * body.length + ENTRY_BYTES, whole)
    },
    clear: () => known.clear(),
  }
}

/** One character for each byte: as text a body need not be valid. */
function keyOf(body: Buffer | string): string {
  return typeof body === 'string' ? body : body.toString('latin1')
}

/** Resolvers are given lists and objects as they are, and may change them. */
function isFlat(variables: OperationParams['variables']): boolean {
  return Object.values(variables ?? {}).every((value) => value === null || typeof value !== 'object')
}

/** The variables of `known` are flat. */
function isSame(known: OperationParams, { query, operationName, variables }: OperationParams): boolean {
  if (query !== known.query || operationName !== known.operationName) return false
  if (!known.variables || !variables) return known.variables === variables
  const names = Object.keys(known.variables)
  if (names.length !== Object.keys(variables).length) return false
  return names.every((name) => Object.hasOwn(variables, name) && known.variables?.[name] === variables[name])
}

function copyOf(params: OperationParams): OperationParams {
  const { variables, extensions } = params
  return {
    ...params,
    ...(variables && { variables: { ...variables } }),
    ...(extensions && { extensions: structuredClone(extensions) }),
  }
}
