import type { Behaviour, Pipeline, PreparedDocument } from '@vinyasa/pipeline'
import { createAttachment, keyed } from '@vinyasa/base'
import { findAcceptChoice } from '../hooks/accept-choice.ts'
import { findParserChoice, findSizeLimit, type RequestParser } from '../hooks/body-choices.ts'
import type { FastPath } from '../fast-path/fast-path.ts'
import type { YogaInternals } from '../yoga/yoga-5.ts'
import { createKnownBodies, type KnownBodies } from './known-bodies.ts'
import { mediaTypesOf, requestHeads, type AllowsHead, type MediaTypeOf } from './request-heads.ts'

type Known = NonNullable<Pipeline['known']>

/** The parts of one server's prepared path, decided once. */
export interface PathServer {
  readonly internals: YogaInternals
  readonly fastPath: FastPath
  readonly pipeline: Pipeline['server']
  readonly known: Known
  readonly bodies: KnownBodies
  readonly others: Pipeline['server']['others']
  readonly allowsHead: AllowsHead
  readonly mediaTypeOf: MediaTypeOf
  readonly parseTarget: RequestParser | undefined
  readonly parseBody: RequestParser | undefined
  readonly receives: readonly Member<'receive'>[]
  readonly identifies: readonly Member<'identify'>[]
  readonly texts: readonly Member<'withText'>[]
  readonly judges: readonly Member<'acceptsBody'>[]
  readonly admits: readonly Member<'admit'>[]
  readonly begins: readonly Member<'begin'>[]
  readonly streams: readonly Member<'stream'>[]
  readonly responds: readonly Member<'respond'>[]
  /** Whether other people's plugins look at responses. */
  readonly othersRespond: boolean
  /** Whether requests for it may take the path. */
  takes(prepared: PreparedDocument): boolean
}

type Member<Name extends keyof Behaviour> = NonNullable<Behaviour[Name]>

export interface PathServerOptions {
  readonly yoga: object
  readonly internals: YogaInternals
  readonly maxBodyBytes: number | undefined
  readonly pipeline: Pipeline
  /** The way of all other requests, and of those that have begun here. */
  readonly fastPath: FastPath
}

/** The parts of a server's prepared path, or why it has none. */
export function readPathServer(options: PathServerOptions): PathServer | readonly string[] {
  const { yoga, internals, maxBodyBytes, pipeline, fastPath } = options
  const { server, known } = pipeline
  if (!known) return ['the plugins do not include usePipeline()']
  const choice = findAcceptChoice(internals)
  const endpoint: unknown = Reflect.get(yoga, 'graphqlEndpoint')
  if (!choice?.whole || typeof endpoint !== 'string')
    return ['the server was not created by a supported version of Yoga']
  const { behaviours, instrumented } = server
  if (instrumented.length > 0) return instrumented.map((step) => `a plugin uses instrumentation.${step}`)
  const parser = findParserChoice(internals)
  const sizeLimit = findSizeLimit(internals)
  const mediaTypeOf = mediaTypesOf(choice, behaviours)
  const bodies = createKnownBodies(known.room)
  known.onClear(() => bodies.clear())
  return {
    internals,
    fastPath,
    pipeline: server,
    known,
    bodies,
    others: server.others,
    allowsHead: requestHeads({ endpoint, maxBodyBytes, sizeLimit, mediaTypeOf, behaviours }),
    mediaTypeOf,
    parseTarget: parser?.target,
    parseBody: parser?.json,
    receives: server.members('receive'),
    identifies: server.members('identify'),
    texts: server.members('withText'),
    judges: server.members('acceptsBody'),
    admits: server.members('admit'),
    begins: server.members('begin'),
    streams: server.members('stream'),
    responds: server.members('respond'),
    othersRespond: server.steps.some(({ hooks }) => hooks?.onResponse),
    takes: keyed(
      (prepared: PreparedDocument) =>
        prepared.definition.operation !== 'subscription' && server.admits(prepared),
      createAttachment(),
    ),
  }
}
