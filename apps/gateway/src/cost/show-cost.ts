import type { ExecutionResult } from 'graphql'

/**
 * Writes what an operation was counted at into its answer, where demand control of other gateways has it. What was
 * refused says it in its error; runs of live queries, counted each by itself, have it already. `actual`: the objects of an
 * answer that is whole.
 */
export function showCost(answer: unknown, cost: number, max: number, actual?: number): void {
  if (typeof answer !== 'object' || answer === null || !('data' in answer)) return
  const result = answer as { extensions?: ExecutionResult['extensions'] }
  if (result.extensions?.['cost']) return
  const estimated = Number.isFinite(cost) ? cost : null
  const shown = { estimated, ...(max > 0 && { max }), ...(actual !== undefined && { actual }) }
  result.extensions = { ...result.extensions, cost: shown }
}
