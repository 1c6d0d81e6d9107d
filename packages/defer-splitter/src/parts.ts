import { copyJson, mergePatch } from '@vinyasa/core'
import type { ExecutionResult, GraphQLError } from 'graphql'

export type PathSegment = string | number
export type Data = Record<string, unknown>

/** The fields of one deferred fragment at one place. `data: null` with errors when the fragment failed as a whole. */
export interface Patch {
  data: Data | null
  path: readonly PathSegment[]
  label?: string
  errors?: readonly GraphQLError[]
}

/** A fragment that was announced: part of the format of `incrementalSpec=v0.2` only. */
export interface Announced {
  readonly path: readonly PathSegment[]
  readonly label?: string | undefined
}

/**
 * Under this key a part tells which fragments the client can now expect. A symbol: it never reaches JSON, and it
 * survives the spread with which other plugins copy results.
 */
export const announced: unique symbol = Symbol('vinyasa.defer.announced')

/**
 * Under this key a part names the fragments that its patches deliver, in their order: path and label alone do not tell two
 * unlabelled fragments at one place apart. Not a key of the patches, which would cost `JSON.stringify` its fast path.
 */
export const delivered: unique symbol = Symbol('vinyasa.defer.delivered')

/** Under this key a part tells which announced fragments the client need not wait for: their place became null. */
export const withdrawn: unique symbol = Symbol('vinyasa.defer.withdrawn')

/** The part that is sent first. */
export interface InitialPart extends ExecutionResult {
  hasNext: boolean
  [announced]?: readonly Announced[]
}

/** A part that is sent later. */
export interface LaterPart {
  incremental?: readonly Patch[]
  hasNext: boolean
  extensions?: Record<string, unknown>
  [announced]?: readonly Announced[]
  [delivered]?: readonly Announced[]
  [withdrawn]?: readonly Announced[]
}

export type Part = InitialPart | LaterPart

/** Merges all parts into the one result that the query gives without `@defer`. */
export async function mergeParts(parts: AsyncIterable<unknown>): Promise<ExecutionResult> {
  const merged: { data?: Data | null; errors?: GraphQLError[]; extensions?: Record<string, unknown> } = {}
  for await (const part of parts) {
    const { data, errors, extensions, incremental } = part as ExecutionResult & LaterPart
    if (data !== undefined) merged.data = copyJson(data) as Data | null
    if (errors?.length) (merged.errors ??= []).push(...errors)
    if (extensions) merged.extensions = { ...merged.extensions, ...extensions }
    for (const patch of incremental ?? []) {
      if (patch.errors?.length) (merged.errors ??= []).push(...patch.errors)
      mergePatch(merged.data, patch)
    }
  }
  return merged
}
