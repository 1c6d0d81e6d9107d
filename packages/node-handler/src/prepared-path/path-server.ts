import type { Behaviour, Pipeline, PreparedDocument } from '@vinyasa/pipeline'
import { createAttachment, keyed } from '@vinyasa/base'
import { findAcceptChoice, type AcceptChoice } from '../hooks/accept-choice.ts'
import { findParserChoice, findSizeLimit, type RequestParser, type SizeLimit } from '../hooks/body-choices.ts'
import type { FastPath } from '../fast-path/fast-path.ts'
import type { YogaInternals } from '../yoga/yoga-5.ts'
import { createKnownBodies, type KnownBodies } from './known-bodies.ts'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { createChoices } from '../http/remembered-choices.ts'

/** Says whether the head of a request allows the prepared path. */
type AllowsHead = (request: IncomingMessage) => boolean

interface RequestHeadOptions {
  /** Path of the GraphQL endpoint. */
  readonly endpoint: string
  readonly maxBodyBytes: number | undefined
  readonly sizeLimit: SizeLimit | undefined
  readonly mediaTypeOf: MediaTypeOf
  readonly behaviours: readonly Behaviour[]
}

/** Larger bodies are not what this is for. */
const MAX_BODY_BYTES = 65_536
const JSON_TYPES =
  /^(?:application\/(?:graphql-response\+)?json(?:;[^,]*)?|\*\/\*)(?:, ?application\/(?:graphql-response\+)?json(?:;[^,]*)?)*$/

/** How the answer is marked for an `Accept` header; undefined: not on the prepared path. */
type MediaTypeOf = (accept: string) => string | undefined

/** Chooses like Yoga where JSON alone is named, else like one of the plugins; pages are none of either. */
function mediaTypesOf(choice: AcceptChoice, behaviours: readonly Behaviour[]): MediaTypeOf {
  return createChoices((accept) => {
    if (accept === '' || JSON_TYPES.test(accept)) return choice.mediaTypeOf(accept)
    if (accept.includes('text/html')) return undefined
    for (const behaviour of behaviours) {
      const mediaType = behaviour.mediaTypeOf?.(accept)
      if (mediaType !== undefined) return mediaType
    }
    return undefined
  })
}

/**
 * Allows the prepared path to requests to the endpoint itself, with a small JSON body or, of a GET, none, and
 * no other wish.
 */
function requestHeads(options: RequestHeadOptions): AllowsHead {
  const { endpoint, maxBodyBytes = MAX_BODY_BYTES, sizeLimit, mediaTypeOf, behaviours } = options
  const targets = `${endpoint}?`
  const most = Math.min(maxBodyBytes, MAX_BODY_BYTES)
  const isBody = createChoices((type) => /^application\/json(?:; ?charset=utf-8)?$/i.test(type))
  const conditions = behaviours.flatMap(({ accepts }) => accepts ?? [])

  function isSmall(length: string | undefined): boolean {
    if (length === undefined || !(Number(length) <= most)) return false
    if (!sizeLimit) return true
    try {
      sizeLimit.checkHeader(length)
      return true
    } catch {
      return false
    }
  }

  function hasSmallBody(headers: IncomingHttpHeaders): boolean {
    if (!isSmall(headers['content-length']) || headers['transfer-encoding'] !== undefined) return false
    return headers['content-encoding'] === undefined && isBody(headers['content-type'] ?? '') === true
  }

  return (request) => {
    const { method, url, headers } = request
    const isTarget = url?.startsWith(targets) === true
    if (method === 'GET' ? !isTarget : (url !== endpoint && !isTarget) || !hasSmallBody(headers)) return false
    if (mediaTypeOf(headers.accept ?? '') === undefined) return false
    for (const accepts of conditions) if (!accepts(request)) return false
    return true
  }
}

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
