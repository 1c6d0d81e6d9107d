import { type Answer, ask, SOCKET_PATHS } from './ask.ts'
import { ATTACKER, FORBIDDEN } from './guard.ts'
import type { Place } from './places.ts'
import type { SettingsPlan, StepPlan, UserHeaders } from './plan.ts'

type Attack = Extract<StepPlan, { kind: 'attack' }>

/** Sends a mutation that must be refused. What came through, or undefined. */
export async function attack(
  { url, tenant }: Place,
  user: UserHeaders,
  { attack, way, document }: Attack,
  { guard }: SettingsPlan,
): Promise<unknown> {
  const before = tenant.behaviour.truth.version
  let answer: Answer | undefined
  if (attack === 'guard') {
    if (guard === undefined) return undefined
    const selection = document.replace(/^mutation /, `mutation ${FORBIDDEN} `)
    // Mutations do not go by GET.
    const how = way === 'get' || way === 'shared get' ? 'live socket' : way
    answer = await refusable(
      ask(url, { head: '', selection, variables: undefined }, { ...user, [ATTACKER]: '1' }, how),
    )
  } else {
    const how = way in SOCKET_PATHS ? way : 'live socket'
    answer = await refusable(
      ask(
        url,
        { head: '', selection: document, variables: undefined },
        { ...user, origin: 'https://evil.example' },
        how,
      ),
    )
  }
  const changes = tenant.behaviour.truth.version - before
  const data = answer?.data ?? undefined
  return changes > 0 || data !== undefined ? { changes, data } : undefined
}

/** Undefined where the connection was refused. */
function refusable(answer: Promise<Answer>): Promise<Answer | undefined> {
  return answer.catch(() => undefined)
}
