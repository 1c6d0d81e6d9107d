import type { IncomingMessage } from 'node:http'
import {
  after,
  createAttachment,
  isPromise,
  jsonQuality,
  keyed,
  keyedByHeader,
  parseAccept,
} from '@vinyasa/core'
import {
  type Asked,
  type Behaviour,
  type EndpointAlias,
  type Hook,
  notModified,
  type Operation,
  type OperationParams,
  type ParamsHandler,
  type PartStream,
  type Pipeline,
  type PreparedDocument,
  type ReceivedParams,
  type RequestParser,
} from '@vinyasa/core/pipeline'
import {
  createProcessResult,
  findAcceptChoice,
  findParserChoice,
  findSizeLimit,
  type ParserChoice,
  type ProcessResult,
  type SizeLimit,
} from '../yoga/yogas-choices.ts'
import { type CreateLightRequest, createLightRequests } from '../http/light-request.ts'
import { type CreateLightResponse, createLightResponses } from '../http/light-response.ts'
import type { ServerContext, YogaInternals } from '../yoga/yoga-5.ts'
import { createKnownBodies, type KnownBodies, type KnownBody, MAX_BODY } from './known-bodies.ts'

/** The functions of one step, in the order of the plugins. */
type Steps<Subject> = readonly ((subject: Subject) => unknown)[]

/** A request, as the functions of its steps see it. */
export interface RequestSteps {
  readonly request: Request
  readonly context: ServerContext
  /** Runs the `onRequest` hook of a plugin without a behaviour. */
  runRequestHook(hook: Hook): unknown
  /** Runs the `onRequestParse` hook of the plugin at a position in the list of plugins. */
  runParseHook(hook: Hook, at: number): unknown
  /** Changes the path if the request was sent to an alias of the endpoint. */
  enter(alias: EndpointAlias, paths: ReturnType<EndpointAlias['paths']>): void
}

/** An operation, as the functions for its parameters see it. */
export interface ParamsSteps {
  readonly request: Request
  readonly context: ServerContext
  params: unknown
  /** Set while the parameters are those of a known body. */
  readonly body: KnownBody | undefined
  /** Runs the `onParams` hook of a plugin without a behaviour. */
  runHook(hook: Hook): unknown
}

interface ResponsePayload {
  readonly request: Request
  readonly response: Response
  readonly serverContext: ServerContext
  setResponse(response: Response): void
}

const JSON_TYPES =
  /^(?:application\/(?:graphql-response\+)?json(?:;[^,]*)?|\*\/\*)(?:, ?application\/(?:graphql-response\+)?json(?:;[^,]*)?)*$/

/**
 * The compiled request cycle of one server. A step is a list of functions in the order of the plugins: the hook of a
 * plugin without a behaviour, and the function of a behaviour.
 */
export class Cycle {
  readonly internals: YogaInternals
  readonly server: Pipeline['server']
  readonly handleParams: ParamsHandler
  readonly createRequest: CreateLightRequest
  readonly createResponse: CreateLightResponse
  readonly processResult: ProcessResult
  readonly bodies: KnownBodies | undefined
  readonly sizeLimit: SizeLimit | undefined
  readonly parsers: ParserChoice | undefined
  readonly onRequest: Steps<RequestSteps>
  readonly onRequestParse: Steps<RequestSteps>
  /** The functions that wrap the parser, with the positions of their plugins. */
  readonly parserWrappers: readonly { readonly at: number; readonly wrap: Member<'wrapParser'> }[]
  readonly onParams: Steps<ParamsSteps>
  readonly onResponse: Steps<ResponsePayload>
  /** Whether plugins without a behaviour have `onResponse` hooks. */
  readonly othersRespond: boolean
  readonly responds: readonly Member<'respond'>[]
  readonly bodyChecks: readonly Member<'checkBodySize'>[]
  /** Yoga's hooks for requests and parameters that are not regular. */
  readonly unhandledRoute: Hook | undefined
  readonly methodHook: Hook | undefined
  readonly batchHook: Hook | undefined
  readonly paramsHook: Hook | undefined
  /** Contexts of requests to an alias. The plugin of the alias chooses the format of the response. */
  readonly atAlias: WeakSet<object> = new WeakSet()
  readonly #pipeline: Pipeline
  /** Whether cached documents can be executed directly. */
  readonly #usesCache: boolean
  readonly #changes: readonly Member<'changeParams'>[]
  readonly #streams: readonly Member<'stream'>[]
  readonly #isJsonBody: (contentType: string) => boolean | undefined
  readonly #jsonTypeOf: (accept: string) => string | undefined
  /** Whether a document can be executed without the hooks for its result. */
  readonly #takes: (prepared: PreparedDocument) => boolean

  constructor(internals: YogaInternals, pipeline: Pipeline) {
    const { own, fetchAPI } = internals
    const { server, known } = pipeline
    this.internals = internals
    this.server = server
    this.handleParams = pipeline.handleParams
    this.createRequest = createLightRequests(fetchAPI)
    this.createResponse = createLightResponses(fetchAPI)
    this.processResult = createProcessResult(internals, this.createResponse)
    this.#pipeline = pipeline
    this.#usesCache = known !== undefined && server.instrumented.length === 0
    this.bodies = known && this.#usesCache ? createKnownBodies(known.room) : undefined
    known?.onClear(() => this.bodies?.clear())
    this.sizeLimit = findSizeLimit(internals)
    this.parsers = findParserChoice(internals)
    this.onRequest = this.#steps(
      'onRequest',
      (hook) => (exchange) => exchange.runRequestHook(hook),
      ofRequest,
    )
    this.onRequestParse = this.#steps<RequestSteps>(
      'onRequestParse',
      (hook, at) => (exchange) => exchange.runParseHook(hook, at),
      (behaviour) =>
        behaviour.checkRequest && (({ request, context }) => behaviour.checkRequest?.(request, context)),
    )
    this.parserWrappers = server.steps.flatMap(({ behaviour }, at) =>
      behaviour?.wrapParser ? [{ at, wrap: behaviour.wrapParser.bind(behaviour) }] : [],
    )
    this.onParams = this.#steps('onParams', (hook) => (step) => step.runHook(hook), ofParams)
    this.onResponse = this.#steps<ResponsePayload>(
      'onResponse',
      (hook) => hook,
      (behaviour) =>
        behaviour.respond &&
        (({ request, response, serverContext: context, setResponse }) => {
          if (behaviour.respond?.({ request, context }, response) === 304)
            setResponse(notModified(response, fetchAPI))
        }),
    )
    this.othersRespond = server.steps.some(({ hooks }) => hooks?.onResponse)
    this.responds = server.members('respond')
    this.bodyChecks = server.members('checkBodySize')
    this.unhandledRoute = own.unhandledRoute?.['onRequest'] as Hook | undefined
    this.methodHook = own.method?.['onRequestParse'] as Hook | undefined
    this.batchHook = own.batchLimit?.['onRequestParse'] as Hook | undefined
    this.paramsHook = own.parameters?.['onParams'] as Hook | undefined
    this.#changes = server.members('changeParams')
    this.#streams = server.members('stream')
    this.#isJsonBody = keyedByHeader((type) => /^application\/json(?:; ?charset=utf-8)?$/i.test(type))
    this.#jsonTypeOf = jsonTypes(internals, server.behaviours)
    this.#takes = keyed(
      (prepared: PreparedDocument) =>
        prepared.definition.operation !== 'subscription' && server.admits(prepared),
      createAttachment<boolean>(),
    )
  }

  #steps<Subject>(
    name: 'onRequest' | 'onRequestParse' | 'onParams' | 'onResponse',
    ofHook: (hook: Hook, at: number) => (subject: Subject) => unknown,
    ofBehaviour: (behaviour: Behaviour) => ((subject: Subject) => unknown) | undefined,
  ): Steps<Subject> {
    return this.server.steps.flatMap(({ behaviour, hooks }, at) => {
      const hook = hooks?.[name]
      return (hook ? ofHook(hook, at) : behaviour && ofBehaviour(behaviour)) ?? []
    })
  }

  /** Returns Yoga's parser for the method and the content type of a request. */
  parserFor(request: Request): RequestParser | undefined {
    const { method } = request
    return method === 'POST' || method === 'GET' ? this.parsers?.parserFor(request) : undefined
  }

  /**
   * Returns whether equal targets, or equal bodies, of such requests mean equal parameters. `undefined` means that the
   * parameters of the request are not cached.
   */
  kindOf({ method, headers }: IncomingMessage): 'target' | 'small' | undefined {
    if (!this.bodies) return undefined
    if (method === 'GET') return 'target'
    if (!(Number(headers['content-length']) <= MAX_BODY) || headers['content-encoding'] !== undefined)
      return undefined
    return this.#isJsonBody(headers['content-type'] ?? '') === true ? 'small' : undefined
  }

  /** Returns the cached document of an operation, if it can be executed without the hooks for its result. */
  find(params: OperationParams, method: string): Asked | undefined {
    if (!this.#usesCache) return undefined
    const asked = this.#pipeline.known?.find(params, method, this.server.others.seesLiterals)
    return asked && this.#takes(asked.prepared) ? asked : undefined
  }

  /** Caches the parameters of a body or target whose document is cached. */
  remember(sent: Buffer | string, prepared: PreparedDocument, request: Request): void {
    const params = this.#readAgain(sent, request)
    // A hook can have changed the parameters of this request.
    if (params && this.#pipeline.known?.get(params) === prepared) this.bodies?.add(sent, params, prepared)
  }

  /** Reads parameters that have passed all checks. Returns `undefined` if a plugin needs time for it. */
  #readAgain(sent: Buffer | string, request: Request): OperationParams | undefined {
    try {
      let params: unknown =
        typeof sent === 'string'
          ? this.parsers?.target?.({ url: sent } as Request)
          : JSON.parse(sent.toString('utf8'))
      for (const change of this.#changes) {
        const changed = change(params as ReceivedParams, request)
        if (isPromise(changed)) return undefined
        params = changed ?? params
      }
      return areUsual(params) ? params : undefined
    } catch {
      return undefined
    }
  }

  /** Returns the JSON media type of a complete result. `undefined` means that hooks must choose the format. */
  mediaTypeOf(request: Request, context: object): string | undefined {
    return this.atAlias.has(context) ? undefined : this.#jsonTypeOf(request.headers.get('accept') ?? '')
  }

  streamOf(operation: Operation, parts: AsyncIterable<unknown>): PartStream | undefined {
    for (const stream of this.#streams) {
      const found = stream(operation, parts)
      if (found) return found
    }
    return undefined
  }
}

type Member<Name extends keyof Behaviour> = NonNullable<Behaviour[Name]>

function ofRequest({ receive, alias }: Behaviour): ((exchange: RequestSteps) => unknown) | undefined {
  if (!alias) return receive && ((exchange) => receive(exchange.request, exchange.context))
  const paths = alias.paths()
  return (exchange) => {
    receive?.(exchange.request, exchange.context)
    exchange.enter(alias, paths)
  }
}

function ofParams({ changeParams, admit }: Behaviour): ((step: ParamsSteps) => unknown) | undefined {
  const admitStep =
    admit && ((step: ParamsSteps) => admit(step.params as ReceivedParams, step.request, step.context))
  if (!changeParams) return admitStep
  return (step) => {
    // Equal bytes have passed this function before.
    if (step.body) return admitStep?.(step)
    return after(changeParams(step.params as ReceivedParams, step.request), (changed) => {
      if (changed) step.params = changed
      return admitStep?.(step) as void
    })
  }
}

/**
 * Chooses the media type as Yoga does if the header lists only JSON. Otherwise the plugins choose first, and Yoga
 * chooses for clients that also accept JSON.
 */
function jsonTypes(
  internals: YogaInternals,
  behaviours: readonly Behaviour[],
): (accept: string) => string | undefined {
  const choice = findAcceptChoice(internals)
  const mediaTypeOf = (accept: string): string | undefined => {
    if (accept === '' || JSON_TYPES.test(accept)) return choice?.mediaTypeOf(accept)
    for (const behaviour of behaviours) {
      const mediaType = behaviour.mediaTypeOf?.(accept)
      if (mediaType !== undefined) return mediaType
    }
    return jsonQuality(parseAccept(accept)) > 0 ? choice?.mediaTypeOf(accept) : undefined
  }
  return keyedByHeader((accept) => {
    const mediaType = choice?.whole && mediaTypeOf(accept)
    return mediaType?.endsWith('json') ? mediaType : undefined
  })
}

/** Returns whether Yoga accepts the parameters without converting them. */
export function areUsual(params: unknown): params is OperationParams {
  if (params === null || typeof params !== 'object' || Array.isArray(params)) return false
  const given = params as Readonly<Record<string, unknown>>
  for (const name of Object.keys(given)) if (!isUsual(name, given[name])) return false
  return given['query'] !== undefined
}

function isUsual(name: string, value: unknown): boolean {
  // Parameters that are missing in the target are `undefined`.
  if (value === undefined) return true
  switch (name) {
    case 'query':
      return typeof value === 'string'
    case 'operationName':
      return value === null || (typeof value === 'string' && value !== '')
    case 'variables':
    case 'extensions':
      return typeof value === 'object' && !Array.isArray(value)
    default:
      return false
  }
}
