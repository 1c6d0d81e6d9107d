import type { ExecutionArgs, OperationDefinitionNode } from 'graphql'
import type { Variables } from './coerce-variables.ts'
import type { PlannedCall } from './compile-call.ts'
import { createJoinRun, siteOf, type JoinRun } from './load-joins.ts'
import type { RecordedReplies } from './recorded-replies.ts'
import type { ReplyReader, TranscodedReply } from './reply-reader.ts'
import type { StartedShare } from './share.ts'
import { Unsure } from './unsure.ts'

export interface Calls {
  readonly operation: OperationDefinitionNode
  readonly calls: readonly { readonly call: PlannedCall; readonly read: ReplyReader }[]
  readonly hasJoins: boolean
}

/** Makes the calls of a plan, and those of its joins. */
export function startCalls(
  { operation, calls, hasJoins }: Calls,
  variables: Variables,
  args: ExecutionArgs,
): StartedShare {
  const context = args.contextValue as object
  const site = siteOf(operation, args)
  const pending = calls.map(async ({ call, read }) => {
    return call.method.runtime.send(await call.request(variables), site, read)
  })
  const joins = hasJoins ? createJoinRun(site, variables, args) : undefined
  const complete = joins ? pending.map((reply) => withJoins(reply, joins)) : pending
  return {
    json: write(complete, args, joins),
    replay(replayed, execute) {
      const stores = new Map<RecordedReplies, Map<string, Promise<Uint8Array>>>()
      for (const [index, { call }] of calls.entries()) {
        const store = stores.get(call.method.recorded) ?? new Map<string, Promise<Uint8Array>>()
        const bytes = (pending[index] as Promise<TranscodedReply>).then((reply) => reply.bytes)
        // Execution may end before it looks at every field.
        bytes.catch(() => {})
        stores.set(call.method.recorded, store.set(call.key, bytes))
      }
      let run = (): unknown => (joins ? joins.replay(replayed, execute) : execute(replayed))
      for (const [recorded, byField] of stores) {
        const inner = run
        run = () => recorded.during(context, byField, inner)
      }
      return run()
    },
  }
}

async function withJoins(pending: Promise<TranscodedReply>, joins: JoinRun): Promise<TranscodedReply> {
  const reply = await pending
  // Before a call is made that ordinary execution would make otherwise.
  if (!reply.json) throw new Unsure(reply.reason)
  if (reply.gaps.length > 0) await joins.load(reply.gaps)
  return reply
}

async function write(
  complete: readonly Promise<TranscodedReply>[],
  args: ExecutionArgs,
  joins: JoinRun | undefined,
): Promise<Buffer[]> {
  const { signal, abortSignal = signal } = args as {
    readonly signal?: AbortSignal
    readonly abortSignal?: AbortSignal
  }
  const [only] = complete
  if (only && complete.length === 1 && !abortSignal) return [jsonOf(await only, joins)]
  const all = Promise.all(complete)
  const replies = await (abortSignal ? unlessAborted(all, abortSignal) : all)
  return replies.map((reply) => jsonOf(reply, joins))
}

/** @throws Unsure */
function jsonOf({ json, gaps, reason }: TranscodedReply, joins: JoinRun | undefined): Buffer {
  if (!json) throw new Unsure(reason)
  return joins ? joins.fill(json, gaps) : json
}

/** Executors stop waiting when the signal in their arguments aborts. */
function unlessAborted<T>(pending: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Error('aborted'))
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    pending.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
