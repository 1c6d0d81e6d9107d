/** Bounds what the plans of a server hold, by the text of their documents, or by what these select where that is more. */
export interface PlanBudget {
  /** Notes a plan; the oldest ones are forgotten where there is no room for all. */
  add(characters: number, forget: () => void): void
}

/** A plan takes about as much as the document that it is made of: up to 200 bytes a character. */
const MAX_CHARACTERS = 524_288
/** The size of the smallest of plans, in the same measure. */
const PLAN_CHARACTERS = 100

export function createPlanBudget(maxCharacters: number = MAX_CHARACTERS): PlanBudget {
  const plans = new Set<{ readonly characters: number; readonly forget: () => void }>()
  let total = 0
  return {
    add(characters, forget) {
      const added = { characters: characters + PLAN_CHARACTERS, forget }
      plans.add(added)
      total += added.characters
      for (const plan of plans) {
        if (total <= maxCharacters || plan === added) return
        plans.delete(plan)
        total -= plan.characters
        plan.forget()
      }
    },
  }
}
