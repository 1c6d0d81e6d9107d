import { isLiveRun } from '@vinyasa/core'
import { createOperationMemo } from '@vinyasa/core/documents'
import { answerSizeOf } from '@vinyasa/source-kit'
import { GraphQLError, type ExecutionArgs, type ExecutionResult } from 'graphql'
import { isAsyncIterable, mapAsyncIterator, type Plugin } from 'graphql-yoga'
import type { CostConfig, CostSections } from './cost-types.ts'
import type { PresetSections } from '../presets.ts'
import { useGuard } from '../use-guard.ts'
import type { Variables } from './amount.ts'
import { compileCost } from './compile-cost.ts'
import { createCostModel } from './cost-model.ts'
import { tooExpensive } from './errors.ts'

/**
 * Writes what an operation was counted at into its answer, where demand control of other gateways has it. What was
 * refused says it in its error; runs of live queries, counted each by itself, have it already. `actual`: the objects of an
 * answer that is whole.
 */
function showCost(answer: unknown, cost: number, max: number, actual?: number): void {
  if (typeof answer !== 'object' || answer === null || !('data' in answer)) return
  const result = answer as { extensions?: ExecutionResult['extensions'] }
  if (result.extensions?.['cost']) return
  const estimated = Number.isFinite(cost) ? cost : null
  const shown = { estimated, ...(max > 0 && { max }), ...(actual !== undefined && { actual }) }
  result.extensions = { ...result.extensions, cost: shown }
}

type Operation = Pick<ExecutionArgs, 'schema' | 'document' | 'operationName'>

type CostOf = (variables: Variables) => number

/** Told of every operation that was counted; of a live query once, and not of its runs. */
export type ObserveCost = (cost: number, result: 'COST_OK' | 'COST_ESTIMATED_TOO_EXPENSIVE') => void

/** In production nobody asks for lists within lists within lists without a bound. */
const PRODUCTION_MAX = 100_000

/** Nothing where the config neither limits what operations cost nor shows it. */
export function costPlugins(
  { cost = {}, preset }: CostSections & PresetSections,
  observe: ObserveCost | undefined,
): readonly Plugin[] {
  const { max = preset === 'production' ? PRODUCTION_MAX : 0, includeExtensionMetadata = false } = cost
  return max === 0 && !includeExtensionMetadata ? [] : [useCostLimit({ ...cost, max }, observe)]
}

/**
 * Refuses operations that may cost more than `max`, before anything of them is executed. What comes from the cache was
 * let through before: an operation and its variables cost the same each time.
 */
function useCostLimit(
  config: CostConfig & { readonly max: number },
  observe: ObserveCost | undefined,
): Plugin {
  const { max, includeExtensionMetadata: isShown = false } = config
  const model = createCostModel(config)
  const costs = createOperationMemo<CostOf>()

  function costOf(operation: Operation): CostOf {
    const { schema, document, operationName } = operation
    return costs(operation, () => compileCost(schema, document, operationName, model))
  }

  /** Returns the estimated cost of an operation, or the error with which it is refused. */
  function estimate(operation: Operation, variables: unknown, context: unknown): number | GraphQLError {
    try {
      const cost = costOf(operation)((variables ?? {}) as Variables)
      const isRefused = max > 0 && cost > max
      if (isRefused) observe?.(cost, 'COST_ESTIMATED_TOO_EXPENSIVE')
      else if (!isLiveRun(context)) observe?.(cost, 'COST_OK')
      return isRefused ? tooExpensive(cost, max) : cost
    } catch (error) {
      if (error instanceof GraphQLError) return error
      throw error
    }
  }

  /** The result with its cost in it: a deferred one has it in the first of its parts, a subscription in each event. */
  function shown(result: unknown, cost: number, context: unknown, isEach: boolean): unknown {
    if (!isAsyncIterable(result)) {
      showCost(result, cost, max, answerSizeOf(context)?.objects)
      return result
    }
    let isFirst = true
    return mapAsyncIterator(result, (part) => {
      if (isFirst || isEach) showCost(part, cost, max)
      isFirst = false
      return part
    })
  }

  return useGuard((operation, isSubscription) => {
    const { variableValues, contextValue } = operation
    const counted = estimate(operation, variableValues, contextValue)
    if (typeof counted !== 'number') return { result: { errors: [counted] } }
    return isShown ? { done: (result) => shown(result, counted, contextValue, isSubscription) } : undefined
  })
}
