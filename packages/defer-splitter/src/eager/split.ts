import type { ExecutionResult, GraphQLSchema } from 'graphql'
import { type Variables, withDefaults } from '@vinyasa/documents'
import type { KnownDocument } from '../document/document-cache.ts'
import { announced, type Data, delivered, type InitialPart, type LaterPart } from '../parts.ts'
import { createErrorIndex } from './error-index.ts'
import { type Draft, SplitWalk } from './split-walk.ts'

export interface SplitInput {
  readonly result: ExecutionResult
  /** The client's document, with its `@defer` directives. */
  readonly document: KnownDocument
  readonly operationName?: string | null | undefined
  readonly variables?: Variables | null | undefined
  /** Without a schema every type condition may match; the merged parts are the same. */
  readonly schema?: GraphQLSchema | undefined
  /** See `DeferSplitterOptions.maxPatches`. */
  readonly maxPatches: number
}

/**
 * Splits a whole result along the document's `@defer` fragments: the first part, then all patches in one part, in the
 * document's order, a nested fragment after the one around it. One plain result when nothing is left to defer.
 */
export function splitResult(input: SplitInput): ExecutionResult | readonly [InitialPart, LaterPart] {
  const { result, document, operationName, schema, maxPatches } = input
  const operation = document.operation(operationName)
  if (!operation || result.data == null) return result
  const { definition, selectionSets } = operation
  const collector = operation.collector(schema, withDefaults(definition, input.variables))
  const index = createErrorIndex(result.errors)
  const walk = new SplitWalk({ collector, schema, index, maxPatches })
  const initial: Draft = { errors: [...index.withoutPath], fragments: [] }
  const rootType = schema?.getRootType(definition.operation) ?? undefined
  const data = walk.fromRoot(initial, rootType, result.data as Data, selectionSets)
  const { patches, fragments } = walk
  // `data` is without the hidden type names, so it replaces the result's own even where nothing is split off.
  if (patches.length === 0) return { ...result, data }
  initial.errors.push(...index.unclaimed())
  const { extensions } = result
  return [
    {
      data,
      ...(initial.errors.length > 0 && { errors: initial.errors }),
      ...(extensions && { extensions }),
      hasNext: true,
      [announced]: initial.fragments,
    },
    { incremental: patches, hasNext: false, [delivered]: fragments },
  ]
}
