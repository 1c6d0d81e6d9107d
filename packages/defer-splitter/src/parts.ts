import { copyJson, mergePatch } from '@vinyasa/core'
import type { ExecutionResult, GraphQLError } from 'graphql'

export type PathSegment = string | number
export type Data = Record<string, unknown>

/** The fields of one deferred fragment at one path. `data` is null, with errors, if the complete fragment failed. */
export interface Patch {
  data: Data | null
  path: readonly PathSegment[]
  label?: string
  errors?: readonly GraphQLError[]
}

/** An announced fragment. Only the format of `incrementalSpec=v0.2` uses it. */
export interface Announced {
  readonly path: readonly PathSegment[]
  readonly label?: string | undefined
}

/**
 * The key under which a part lists the fragments that the client can now expect. It is a symbol, so that it is not in
 * the JSON, and copies by spread contain it.
 */
export const announced: unique symbol = Symbol('vinyasa.defer.announced')

/**
 * The key under which a part lists the fragments of its patches, in order. Path and label cannot distinguish two
 * unlabelled fragments of one object. The key is not in the patches, because `JSON.stringify` would then be slower.
 */
export const delivered: unique symbol = Symbol('vinyasa.defer.delivered')

/** The key under which a part lists the announced fragments that will not be sent, because their object became null. */
export const withdrawn: unique symbol = Symbol('vinyasa.defer.withdrawn')

/** The first part of a response. */
export interface InitialPart extends ExecutionResult {
  hasNext: boolean
  [announced]?: readonly Announced[]
}

/** A later part of a response. */
export interface LaterPart {
  incremental?: readonly Patch[]
  hasNext: boolean
  extensions?: Record<string, unknown>
  [announced]?: readonly Announced[]
  [delivered]?: readonly Announced[]
  [withdrawn]?: readonly Announced[]
}

export type Part = InitialPart | LaterPart

/** Merges all parts into the result of the query without `@defer`. */
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
