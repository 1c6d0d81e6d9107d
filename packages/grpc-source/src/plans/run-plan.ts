import type { ExecutionArgs } from 'graphql'
import type { Variables } from './coerce-variables.ts'
import type { Plan } from './compile-operation.ts'
import { createJoinRun, type JoinRun } from './load-joins.ts'
import type { Executor } from './plain-executor.ts'
import { createPlannedResult } from './planned-result.ts'
import type { RecordedReplies } from './recorded-replies.ts'
import type { TranscodedReply } from './reply-reader.ts'
import { Unsure } from './unsure.ts'

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
  const joins = plan.hasJoins ? createJoinRun(site) : undefined
  const complete = joins ? pending.map((reply) => withJoins(reply, joins)) : pending
  try {
    return createPlannedResult(join(plan, await unlessAborted(complete, args), joins))
  } catch (error) {
    return fallBack(error instanceof Unsure ? error.message : 'a call failed or was given up')
  }

  function fallBack(reason: string): unknown {
    onFallBack(reason)
    joins?.handOver()
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

async function withJoins(pending: Promise<TranscodedReply>, joins: JoinRun): Promise<TranscodedReply> {
  const reply = await pending
  // Before a call is made that ordinary execution would make otherwise.
  if (!reply.json) throw new Unsure(reply.reason)
  if (reply.gaps.length > 0) await joins.load(reply.gaps)
  return reply
}

/** @throws Unsure */
function join({ between }: Plan, replies: readonly TranscodedReply[], joins: JoinRun | undefined): Buffer {
  const parts = replies.map(({ json, gaps, reason }) => {
    if (!json) throw new Unsure(reason)
    return joins ? joins.fill(json, gaps) : json
  })
  if (between.length === 0) return parts[0] as Buffer
  const pieces: Buffer[] = []
  for (const [index, piece] of between.entries()) {
    pieces.push(piece)
    const part = parts[index]
    if (part) pieces.push(part)
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
