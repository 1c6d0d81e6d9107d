import { isRecord } from '@vinyasa/base'
import type { ExecutionResult } from 'graphql'
import { hasOwnHead } from './own-head.ts'

interface Part {
  readonly data?: ExecutionResult['data']
  readonly errors?: readonly unknown[]
  readonly extensions?: ExecutionResult['extensions']
  readonly incremental?: readonly Patch[]
  readonly hasNext?: boolean
}

interface Patch {
  readonly data?: Record<string, unknown> | null
  readonly items?: readonly unknown[] | null
  readonly path?: readonly (string | number)[]
  readonly errors?: readonly unknown[]
}

/**
 * Puts the parts of the specification's incremental format together into the whole result. Parts are
 * copied, not changed: they are on their way to the client. Extensions of other plugins are not kept, as those of a
 * result that comes at once are not.
 */
export interface IncrementalMerge {
  add(part: unknown): void
  /** The whole data, or undefined when a part had errors, was not understood, or the end is missing. */
  result(): Record<string, unknown> | undefined
}

export function createIncrementalMerge(): IncrementalMerge {
  let whole: Record<string, unknown> | undefined
  let isSound = true
  let isComplete = false

  function addPart(part: Part) {
    if (part.errors?.length || hasOwnHead(part) || 'pending' in part || 'completed' in part) isSound = false
    if (part.data) whole = structuredClone(part.data)
    for (const patch of part.incremental ?? []) isSound = isSound && applyPatch(whole, patch)
    if (part.hasNext === false) isComplete = true
  }

  return {
    add(part) {
      if (isRecord(part)) addPart(part as Part)
      else isSound = false
    },
    result: () => (isSound && isComplete ? whole : undefined),
  }
}

function applyPatch(whole: Record<string, unknown> | undefined, patch: Patch): boolean {
  if (patch.errors?.length || !whole) return false
  const path = patch.path ?? []
  if (patch.items) {
    const list = valueAt(whole, path.slice(0, -1))
    const start = path.at(-1)
    if (!Array.isArray(list) || typeof start !== 'number') return false
    for (const [offset, item] of patch.items.entries()) list[start + offset] = structuredClone(item)
    return true
  }
  const target = valueAt(whole, path)
  if (!isRecord(target) || !patch.data) return false
  mergeInto(target, structuredClone(patch.data))
  return true
}

function valueAt(root: unknown, path: readonly (string | number)[]): unknown {
  let value = root
  for (const segment of path) {
    if (Array.isArray(value) && typeof segment === 'number') value = value[segment]
    else if (isRecord(value) && Object.hasOwn(value, segment)) value = value[segment]
    else return undefined
  }
  return value
}

/** A field selected in both parts is merged member by member. */
function mergeInto(target: Record<string, unknown>, source: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(source)) {
    const existing = target[key]
    if (isRecord(existing) && isRecord(value)) mergeInto(existing, value)
    else if (Array.isArray(existing) && Array.isArray(value)) mergeLists(existing, value)
    else target[key] = value
  }
}

function mergeLists(target: unknown[], source: readonly unknown[]): void {
  for (const [index, value] of source.entries()) {
    const existing = target[index]
    if (isRecord(existing) && isRecord(value)) mergeInto(existing, value)
    else if (Array.isArray(existing) && Array.isArray(value)) mergeLists(existing, value)
    else target[index] = value
  }
}
