import { createRecent, placeOf, type Room } from '@vinyasa/core'
import type { Operation, OperationParams, PreparedDocument } from '@vinyasa/core/pipeline'

/** The operation of a request body, or of the target of a `GET` request. */
export interface KnownBody extends NonNullable<Operation['sameBytes']> {
  readonly prepared: PreparedDocument
  /** Returns a copy of the parameters. Changes to it do not affect other requests. */
  params(): OperationParams
}

/**
 * Caches the parsed and checked parameters of request bodies and targets. The keys do not collide, because a target
 * starts with a slash, and JSON does not.
 */
export interface KnownBodies {
  get(body: Buffer | string): KnownBody | undefined
  add(body: Buffer | string, params: OperationParams, prepared: PreparedDocument): void
  clear(): void
}

/** Larger bodies are not cached. */
export const MAX_BODY = 4_096
/** Bytes of an entry in addition to the body. The parameters consist of parts of the body. */
const ENTRY_BYTES = 500

/** Creates the cache. Entries are evicted together with their document. */
export function createKnownBodies(room: Room): KnownBodies {
  const known = createRecent<KnownBody>(room)
  return {
    get: (body) => (body.length <= MAX_BODY ? known.get(keyOf(body)) : undefined),
    add(body, params, prepared) {
      const whole = placeOf(prepared.document)
      if (!whole || body.length > MAX_BODY || !isFlat(params.variables)) return
      // The document already holds the same string.
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

/** Returns one character per byte, because a body can contain invalid UTF-8. */
function keyOf(body: Buffer | string): string {
  return typeof body === 'string' ? body : body.toString('latin1')
}

/** Returns whether no variable is a list or an object. Resolvers can modify lists and objects. */
function isFlat(variables: OperationParams['variables']): boolean {
  return Object.values(variables ?? {}).every((value) => value === null || typeof value !== 'object')
}

/** Compares parameters. The variables of `known` contain no lists or objects. */
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
