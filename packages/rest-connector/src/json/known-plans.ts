import { NotPlannable } from '@vinyasa/source-kit'
import type { FieldNode, GraphQLNamedType } from 'graphql'
import type { ObjectPlan } from './object-plan.ts'

/** Object types below interfaces and unions that one plan may hold. */
const MAX_MEMBERS = 200

/**
 * The plans of one operation's selections. A field of an interface is selected on each of its types: what is below it is
 * planned once, so that nested interfaces do not multiply.
 */
export class KnownPlans {
  readonly #plans = new Map<GraphQLNamedType, { nodes: readonly FieldNode[]; plan: ObjectPlan }[]>()
  #members = 0

  get(type: GraphQLNamedType, nodes: readonly FieldNode[], make: () => ObjectPlan): ObjectPlan {
    const known = this.#plans.get(type) ?? []
    const found = known.find(
      (one) => one.nodes.length === nodes.length && one.nodes.every((node, index) => node === nodes[index]),
    )
    if (found) return found.plan
    const plan = make()
    this.#plans.set(type, [...(this.#plans.get(type) ?? []), { nodes, plan }])
    return plan
  }

  /** @throws NotPlannable */
  countMembers(count: number): void {
    this.#members += count
    if (this.#members > MAX_MEMBERS)
      throw new NotPlannable(
        `the interfaces and unions in the operation have more than ${MAX_MEMBERS} object types`,
      )
  }
}
