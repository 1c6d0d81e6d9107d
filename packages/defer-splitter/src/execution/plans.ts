import type { ExecutionArgs } from 'graphql'

/** Answers operations without their resolvers, where it can; the same as these would. */
export interface Plans {
  /** The whole result; undefined where there is no plan. */
  run(args: ExecutionArgs): unknown
}

/** What plugins of a server have as their member `plans`. */
export function plansOf(plugins: readonly unknown[]): Plans {
  const all = plugins.flatMap((plugin) => (Object(plugin) as { readonly plans?: Plans }).plans ?? [])
  return {
    run(args) {
      for (const plans of all) {
        const found = plans.run(args)
        if (found !== undefined) return found
      }
      return undefined
    },
  }
}
