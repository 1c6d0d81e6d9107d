import { type JsonText, unlessAborted } from '@vinyasa/core'
import {
  FallBack,
  type FastPath,
  type JoinedJson,
  mergeRecorded,
  NotPlannable,
  type Prepared,
  sharedOf,
  type Site,
  type Started,
} from '@vinyasa/source-kit'
import { compileCall, type PlannedCall } from './compile-call.ts'
import type { JoinGap } from '../json/transcoder.ts'
import { JoinPlans } from '../joins/compile-join.ts'
import { callSiteOf, createJoinRun, type JoinRun } from '../joins/load-joins.ts'
import { marks } from '../json/planned-field.ts'
import { replyReader, type ReplyReader, type TranscodedReply } from './reply-reader.ts'

/** Takes the fields of all gRPC sources together. */
export const grpcFastPath: FastPath = {
  prepareRoots(selections, scope) {
    const mark = selections[0] && marks.of(selections[0].field)
    if (mark?.kind !== 'method')
      throw new NotPlannable(
        `the field ${selections[0]?.field.name} is not a query field that calls a unary gRPC method`,
      )
    const joins = new JoinPlans(scope)
    const calls = selections.map((selection) => compileCall(scope, selection, joins.compile))
    const prepare = (before: string, after: string): Prepared => {
      const read = (call: PlannedCall) => ({ call, read: replyReader(call.method, call, before, after) })
      const all = calls.map(read)
      const { hasAny } = joins
      return { start: (site) => startCalls(all, hasAny, site) }
    }
    const isOneCall = calls.length === 1 && !joins.hasAny
    return { ...prepare('', ''), isOneCall, ...(calls.length === 1 && { whole: prepare }) }
  },

  prepareJoin({ field, nodes }, scope) {
    const mark = marks.of(field)
    if (mark?.kind !== 'join')
      throw new NotPlannable(`the field ${field.name} is not a batched join of a gRPC source`)
    const { join } = mark
    const place = new JoinPlans(scope).place(field, join, nodes)
    return {
      parentKey: join.parentKey,
      start(site) {
        const run = sharedOf(site, createJoinRun)
        const loads: Promise<void>[] = []
        /** All keys together; each is in the answer, at least once. */
        const loaded = { length: 0, objects: 0 }
        const gapOf = (key: string | null): JoinGap => ({ at: 0, place, key: key === '' ? null : key })
        return {
          async load(keys) {
            const gaps = keys.map(gapOf)
            loads.push(run.load(gaps))
            // A key that is on its way is not asked for again.
            await Promise.all(loads)
            const joined = gaps.map((gap): JoinedJson => {
              const { length, objects } = run.sizeOfGap(gap)
              loaded.length += length
              loaded.objects += objects
              return { length, objects, json: () => run.valueOf(gap) }
            })
            site.size.hold(loaded.objects, loaded.length)
            return joined
          },
          recorded: () => run.recorded(),
        }
      },
    }
  },
}

/** Makes the calls of a plan, and those of its joins. */
function startCalls(
  calls: readonly { readonly call: PlannedCall; readonly read: ReplyReader }[],
  hasJoins: boolean,
  site: Site,
): Started {
  const callSite = callSiteOf(site)
  const pending = calls.map(async ({ call, read }) => {
    return call.method.runtime.send(await call.request(site.variables), callSite, read)
  })
  const joins = hasJoins ? sharedOf(site, createJoinRun) : undefined
  const complete = joins ? pending.map((reply) => withJoins(reply, joins)) : pending
  return {
    json: write(complete, site, joins),
    recorded() {
      const roots = new Map<string, () => unknown>()
      for (const [index, { call }] of calls.entries()) {
        const reply = pending[index] as Promise<TranscodedReply>
        // Execution may end before it looks at every field.
        reply.catch(() => {})
        const { runtime } = call.method
        roots.set(call.key, async () => runtime.pluck(runtime.decode((await reply).bytes)))
      }
      return mergeRecorded([{ roots, joins: new Map() }, ...(joins ? [joins.recorded()] : [])])
    },
  }
}

async function withJoins(pending: Promise<TranscodedReply>, joins: JoinRun): Promise<TranscodedReply> {
  const reply = await pending
  // Before a call is made that ordinary execution would make otherwise.
  if (reply.json === undefined) throw new FallBack(reply.reason)
  if (reply.gaps.length > 0) await joins.load(reply.gaps)
  return reply
}

async function write(
  complete: readonly Promise<TranscodedReply>[],
  { args, size }: Site,
  joins: JoinRun | undefined,
): Promise<JsonText[]> {
  const { signal, abortSignal = signal } = args as {
    readonly signal?: AbortSignal
    readonly abortSignal?: AbortSignal
  }
  const [only] = complete
  if (only && complete.length === 1 && !abortSignal) return [jsonOf(await only, joins, size)]
  // One that is too large is known before the others are there.
  const all = Promise.all(complete.map(async (reply) => jsonOf(await reply, joins, size)))
  // Executors stop waiting when the signal in their arguments aborts.
  return unlessAborted(all, abortSignal, () => new Error('aborted'))
}

/** @throws FallBack */
function jsonOf(
  { json, gaps, objects, reason }: TranscodedReply,
  joins: JoinRun | undefined,
  size: Site['size'],
): JsonText {
  if (json === undefined) throw new FallBack(reason)
  if (!joins || typeof json === 'string') {
    size.add(objects, 0)
    return json
  }
  const span = { start: 0, end: json.length, gaps, objects }
  const filled = joins.sizeOf(span)
  size.add(filled.objects, 0)
  size.hold(0, filled.length)
  return joins.fill(json, span)
}
