import type { MaybePromise } from '@vinyasa/base'
import { yogasExecutor } from '@vinyasa/yoga-internals'
import { findAcceptChoice } from '../fast-path/accept-choice.ts'
import { findParserChoice, findSizeLimit, type RequestParser } from '../fast-path/body-choices.ts'
import type { FastPath } from '../fast-path/fast-path.ts'
import type { YogaInternals } from '../yoga/yoga-5.ts'
import { createMasking } from './masking.ts'
import { Others } from './others/others.ts'
import { envelopOthers } from './others/envelop-others.ts'
import { argsOf, aroundBy, compose } from './others/execution.ts'
import type { KnownOperation, NextExecutor, ShortCall, ShortWayPart } from './part.ts'
import { type PluginStep, readParts } from './read-parts.ts'
import { shortMediaTypes, shortRequests, type IsShortRequest, type MediaTypeOf } from './short-requests.ts'
import { shortWayStateOf, type ShortWayState } from './use-short-way.ts'

/** What the short way of one server is made of, decided once. */
export interface ShortServer {
  readonly internals: YogaInternals
  readonly fastPath: FastPath
  readonly state: ShortWayState
  readonly steps: readonly PluginStep[]
  readonly parts: readonly ShortWayPart[]
  readonly others: Others
  readonly envelopOthers: ReturnType<typeof envelopOthers>
  readonly masking: ReturnType<typeof createMasking>
  readonly isShort: IsShortRequest
  readonly mediaTypeOf: MediaTypeOf
  readonly parseTarget: RequestParser | undefined
  readonly parseBody: RequestParser | undefined
  /** Executes, with all that stands around it. */
  readonly run: NextExecutor
  readonly identifies: readonly Member<'identify'>[]
  readonly texts: readonly Member<'withText'>[]
  readonly judges: readonly Member<'acceptsBody'>[]
  readonly callJudges: readonly Member<'admitsCall'>[]
  readonly admits: readonly Member<'admit'>[]
  readonly begins: readonly Member<'begin'>[]
  readonly delivers: readonly Member<'deliver'>[]
  readonly results: readonly Member<'result'>[]
  readonly streams: readonly Member<'stream'>[]
  readonly partsSeen: readonly Member<'onPart'>[]
  readonly responds: readonly Member<'respond'>[]
  /** Whether other people's plugins look at responses. */
  readonly othersRespond: boolean
  isAdmitted(operation: KnownOperation): boolean
}

type Member<Name extends keyof ShortWayPart> = NonNullable<ShortWayPart[Name]>

export interface ShortServerOptions {
  readonly yoga: object
  readonly internals: YogaInternals
  readonly maxBodyBytes: number | undefined
  /** The way of all other requests, and of those that have begun here. */
  readonly fastPath: FastPath
}

/** The parts of a server's short way, or why it has none. */
export function readShortServer(options: ShortServerOptions): ShortServer | readonly string[] {
  const { yoga, internals, maxBodyBytes, fastPath } = options
  const { plugins } = internals
  const state = shortWayStateOf(plugins)
  if (!state) return ['useShortWay() is not among the plugins']
  const choice = findAcceptChoice(internals)
  const execute = yogasExecutor(plugins)
  const endpoint: unknown = Reflect.get(yoga, 'graphqlEndpoint')
  if (!choice?.whole || !execute || typeof endpoint !== 'string')
    return ['this version of Yoga is built differently']
  const { steps, reasons, hasCors } = readParts(plugins)
  if (reasons.length > 0) return reasons
  const parts = steps.flatMap(({ part }) => part ?? [])
  const members = <Name extends keyof ShortWayPart>(name: Name): Member<Name>[] =>
    parts.flatMap((part) => part[name] ?? []) as Member<Name>[]
  const parser = findParserChoice(internals)
  const sizeLimit = findSizeLimit(internals)
  const mediaTypeOf = shortMediaTypes(choice, parts)
  const admitters = parts.filter((part) => part.admits)
  return {
    internals,
    fastPath,
    state,
    steps,
    parts,
    others: new Others(steps.flatMap(({ hooks }) => hooks ?? [])),
    envelopOthers: envelopOthers(plugins),
    masking: createMasking(internals.maskedErrors),
    isShort: shortRequests({ endpoint, maxBodyBytes, sizeLimit, mediaTypeOf, hasCors, parts }),
    mediaTypeOf,
    parseTarget: parser?.target,
    parseBody: parser?.json,
    run: compose([...aroundsOf(steps), noteExecuted, ...members('plan')], (call) =>
      (call.executor ?? execute)(argsOf(call)),
    ),
    identifies: members('identify'),
    texts: members('withText'),
    judges: members('acceptsBody'),
    callJudges: members('admitsCall'),
    admits: members('admit'),
    begins: members('begin'),
    delivers: members('deliver'),
    results: members('result'),
    streams: members('stream'),
    partsSeen: members('onPart'),
    responds: members('respond'),
    othersRespond: steps.some(({ hooks }) => hooks?.onResponse),
    isAdmitted: (operation) => admitters.every((part) => part.admits?.(operation) ?? true),
  }
}

function noteExecuted(call: ShortCall, next: NextExecutor): MaybePromise<unknown> {
  call.wasExecuted = true
  return next(call)
}

/** Other people's hooks that stand side by side run together, each group at its place among ours. */
function aroundsOf(steps: readonly PluginStep[]): NonNullable<ShortWayPart['execute']>[] {
  const arounds: NonNullable<ShortWayPart['execute']>[] = []
  let group: NonNullable<PluginStep['hooks']>['onExecute'][] = []
  const close = (): void => {
    if (group.length > 0) arounds.push(aroundBy(group.flatMap((hook) => hook ?? [])))
    group = []
  }
  for (const { part, hooks } of steps) {
    if (hooks?.onExecute) group.push(hooks.onExecute)
    if (!part?.execute) continue
    close()
    arounds.push(part.execute.bind(part))
  }
  close()
  return arounds
}
