import { FallBack, type markTeller } from '@vinyasa/source-kit'
import { hasJoins, type ObjectPlan, type Read } from './object-plan.ts'

/** A selection on values of several object types, by what each of them selects. */
export function abstractPlan(
  tell: Parameters<typeof markTeller>[1],
  members: ReadonlyMap<string, ObjectPlan>,
): ObjectPlan {
  function planOf(value: unknown): ObjectPlan {
    const plan = members.get(tell(value) ?? '')
    if (!plan) throw new FallBack('the backend sent an object whose GraphQL type cannot be determined')
    return plan
  }
  const only =
    (name: string): Read =>
    (value) =>
      tell(value) === name ? value : undefined
  return {
    below: [...members].flatMap(([name, plan]) =>
      hasJoins(plan) ? [{ kind: 'member' as const, read: only(name), plan }] : [],
    ),
    write: (value, writing) => planOf(value).write(value, writing),
    pieces: [...members.values()].some(({ pieces }) => pieces)
      ? (value, writing) => {
          const { pieces, write } = planOf(value)
          return pieces ? pieces(value, writing) : [write(value, writing)]
        }
      : undefined,
  }
}
