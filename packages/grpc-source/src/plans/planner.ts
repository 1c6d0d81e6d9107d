import {
  getOperationAST,
  type DocumentNode,
  type ExecutionArgs,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql'
import type { Variables } from './coerce-variables.ts'
import { compileOperation, type OperationPlans, type Plan } from './compile-operation.ts'
import { plainExecutor, type Executor } from './plain-executor.ts'
import type { OnPlan } from './plan-event.ts'
import { runShares } from './run-shares.ts'

/**
 * An executor that answers an operation by a plan; undefined where there is none, or where `executor` is not a plain
 * interpreter but something that another plugin put in its place.
 */
export type PlanOperation = (args: ExecutionArgs, executor: Executor) => Executor | undefined

interface KnownDocument {
  readonly schema: GraphQLSchema
  readonly operations: Map<OperationDefinitionNode, OperationPlans>
}

export function createPlanner(onPlan: OnPlan | undefined): PlanOperation {
  // Servers hand out one document for one query text, and forget it some time.
  const documents = new WeakMap<DocumentNode, KnownDocument>()

  function plansOf({ schema, document, operationName }: ExecutionArgs): OperationPlans | undefined {
    const operation = getOperationAST(document, operationName)
    if (!operation) return undefined
    let known = documents.get(document)
    if (known?.schema !== schema) documents.set(document, (known = { schema, operations: new Map() }))
    let plans = known.operations.get(operation)
    if (!plans) known.operations.set(operation, (plans = compileOperation(schema, document, operation)))
    return plans
  }

  function find(args: ExecutionArgs): { readonly plan: Plan; readonly variables: Variables } | undefined {
    const plans = plansOf(args)
    const variables = plans?.coerce(args.variableValues ?? {})
    if (!plans || !variables) return undefined
    const { plan, reason, isNew } = plans.find(variables)
    if (isNew) report(plans.name, plan ? 'planned' : 'unplanned', reason)
    return plan && { plan, variables }
  }

  function report(
    operationName: string | undefined,
    outcome: 'planned' | 'unplanned' | 'fell-back',
    reason: string | undefined,
  ): void {
    try {
      onPlan?.({ operationName, outcome, reason })
    } catch {
      // Who listens must not fail the operation.
    }
  }

  return (args, executor) => {
    const execute = plainExecutor(executor)
    if (!execute || !canPlan(args) || !find(args)) return undefined
    return (given) => {
      // Plugins after this one may have put another document in place.
      const found = canPlan(given) ? find(given) : undefined
      if (!found) return execute(given)
      const { plan, variables } = found
      const onFallBack = (reason: string): void => report(plan.operation.name?.value, 'fell-back', reason)
      return runShares(plan, { variables, args: given, execute, onFallBack })
    }
  }
}

function canPlan({ contextValue, fieldResolver, typeResolver }: ExecutionArgs): boolean {
  return typeof contextValue === 'object' && contextValue !== null && !fieldResolver && !typeResolver
}
