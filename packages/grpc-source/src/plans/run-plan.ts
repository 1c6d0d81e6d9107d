import type { ExecutionArgs } from 'graphql'
import type { Variables } from './coerce-variables.ts'
import type { Plan } from './compile-operation.ts'
import type { Executor } from './plain-executor.ts'
import { createPlannedResult } from './planned-result.ts'
import type { RecordedReplies } from './recorded-replies.ts'
import type { TranscodedReply } from './reply-reader.ts'

export interface PlanRun {
  readonly plan: Plan
  readonly variables: Variables
  readonly args: ExecutionArgs
  /** Executes in the plan's place when it gives up; then `onFallBack` is told why. */
  readonly execute: Executor
  readonly onFallBack: (reason: string) => void
}

/**
 * Makes the calls of a plan and puts the answer together. Where a call fails, or brings what is not for a plan to
 * answer, ordinary execution takes over with the calls as they are: none is made again.
 */
export async function runPlan({ plan, variables, args, execute, onFallBack }: PlanRun): Promise<unknown> {
  const context = args.contextValue as object
  const site = { context, info: { operation: plan.operation, rootValue: args.rootValue } }
  const pending = plan.calls.map(async ({ call, read }) => {
    return call.method.runtime.send(await call.request(variables), site, read)
  })
  let replies: readonly TranscodedReply[]
  try {
    replies = await unlessAborted(pending, args)
  } catch {
    return fallBack('a call failed or was given up')
  }
  const unsure = replies.find(({ json }) => json === undefined)
  if (unsure) return fallBack(unsure.reason ?? 'a reply could not be read')
  return createPlannedResult(join(plan, replies))

  function fallBack(reason: string): unknown {
    onFallBack(reason)
    const stores = new Map<RecordedReplies, Map<string, Promise<Uint8Array>>>()
    for (const [index, { call }] of plan.calls.entries()) {
      const store = stores.get(call.method.recorded) ?? new Map<string, Promise<Uint8Array>>()
      const bytes = (pending[index] as Promise<TranscodedReply>).then((reply) => reply.bytes)
      // Execution may end before it looks at every field.
      bytes.catch(() => {})
      stores.set(call.method.recorded, store.set(call.key, bytes))
    }
    let run = (): unknown => execute(args)
    for (const [recorded, byField] of stores) {
      const inner = run
      run = () => recorded.during(context, byField, inner)
    }
    return run()
  }
}

function join({ between }: Plan, replies: readonly TranscodedReply[]): Buffer {
  if (between.length === 0) return replies[0]?.json as Buffer
  const pieces: Buffer[] = []
  for (const [index, piece] of between.entries()) {
    pieces.push(piece)
    const json = replies[index]?.json
    if (json) pieces.push(json)
  }
  return Buffer.concat(pieces)
}

/** Executors stop waiting when the signal in their arguments aborts. */
async function unlessAborted(
  pending: readonly Promise<TranscodedReply>[],
  args: ExecutionArgs,
): Promise<readonly TranscodedReply[]> {
  const { signal, abortSignal = signal } = args as {
    readonly signal?: AbortSignal
    readonly abortSignal?: AbortSignal
  }
  const all =
    pending.length === 1
      ? (pending[0] as Promise<TranscodedReply>).then((reply) => [reply])
      : Promise.all(pending)
  if (!abortSignal) return all
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Error('aborted'))
    if (abortSignal.aborted) abort()
    abortSignal.addEventListener('abort', abort, { once: true })
    all.then(resolve, reject).finally(() => abortSignal.removeEventListener('abort', abort))
  })
}
