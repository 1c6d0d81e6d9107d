import { isPromise, type MaybePromise } from '../../index.ts'

/** Calls hooks in order until all have run or a hook ends the request. */
export function runHooks<Payload extends object>(
  hooks: readonly ((payload: Payload) => unknown)[],
  payload: Payload,
  onReturn?: (returned: unknown) => void,
  hasEnded?: () => boolean,
): MaybePromise<void> {
  for (let index = 0; index < hooks.length; index++) {
    const returned = hooks[index]?.(payload)
    if (isPromise(returned)) return goOn(index, returned)
    onReturn?.(returned)
    if (hasEnded?.()) return
  }

  async function goOn(index: number, first: PromiseLike<unknown>): Promise<void> {
    const returned = await first
    onReturn?.(returned)
    if (!hasEnded?.()) await runHooks(hooks.slice(index + 1), payload, onReturn, hasEnded)
  }
}
