import { copyJson, isRecord, mergePatch } from '@vinyasa/base'
import type { ExecutionResult } from 'graphql'
import { hasOwnHead } from './serialized-result.ts'

type Patch = Parameters<typeof mergePatch>[1] & { readonly errors?: readonly unknown[] }

interface Part {
  readonly data?: ExecutionResult['data']
  readonly errors?: readonly unknown[]
  readonly extensions?: ExecutionResult['extensions']
  readonly incremental?: readonly Patch[]
  readonly hasNext?: boolean
}

/**
 * Puts the parts of the specification's incremental format together into the whole result. Parts are
 * copied, not changed: they are on their way to the client. Extensions of other plugins are not kept, as those of a
 * result that comes at once are not.
 */
export class IncrementalMerge {
  #whole: Record<string, unknown> | undefined
  #isSound = true
  #isComplete = false

  add(part: unknown): void {
    if (isRecord(part)) this.#add(part as Part)
    else this.#isSound = false
  }

  /** The whole data, or undefined when a part had errors, was not understood, or the end is missing. */
  result(): Record<string, unknown> | undefined {
    return this.#isSound && this.#isComplete ? this.#whole : undefined
  }

  #add(part: Part): void {
    if (part.errors?.length || hasOwnHead(part) || 'pending' in part || 'completed' in part)
      this.#isSound = false
    if (part.data) this.#whole = copyJson(part.data) as Record<string, unknown>
    for (const patch of part.incremental ?? [])
      this.#isSound &&= !patch.errors?.length && mergePatch(this.#whole, patch)
    if (part.hasNext === false) this.#isComplete = true
  }
}
