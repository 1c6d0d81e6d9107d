import type { Plugin } from 'graphql-yoga'
import { after } from '../index.ts'
import type { Behaviour, EndpointAlias, ReceivedParams } from './behaviour.ts'
import { yogasPlugins, type YogasPlugins } from '../yoga-internals.ts'
import { type Hook, notModified } from './yoga.ts'

type Hooks<Name extends keyof Plugin> = Required<Pick<Plugin, Name>>
type RequestPayload = Parameters<NonNullable<Plugin['onRequest']>>[0]
type Context = Record<string, unknown>

/** Returns the hooks that do in every Yoga server what the behaviour does for requests in node-handler. */
function hooksOf(behaviour: Behaviour): Plugin {
  const { alias, receive, context, respond } = behaviour
  return {
    ...((alias || receive) && requestHooks(behaviour)),
    ...parseHooks(behaviour),
    ...paramsHooks(behaviour),
    ...(context && { onContextBuilding: (payload) => void context(payload.context as Context) }),
    ...(respond && responseHooks(behaviour)),
  }
}

function requestHooks(behaviour: Behaviour): Hooks<'onRequest'> {
  const { alias } = behaviour
  return {
    onRequest(payload) {
      behaviour.receive?.(payload.request, payload.serverContext as unknown as Context)
      if (alias) enterAlias(alias, payload)
    },
  }
}

/** Changes the path of `POST` requests to the alias into the endpoint. Other methods get 405. */
export function enterAlias(alias: EndpointAlias, payload: RequestPayload): void {
  const { request, url, fetchAPI, setRequest, endResponse, serverContext } = payload
  const { path, endpoint } = alias.paths()
  if (!request.url.includes(path)) return
  const target = new fetchAPI.URL(request.url, 'http://localhost')
  if (target.pathname !== path) return
  if (request.method !== 'POST') {
    endResponse(new fetchAPI.Response(null, { status: 405, headers: { Allow: 'POST' } }))
    return
  }
  target.pathname = endpoint
  setRequest(withUrl(request, target.toString()))
  // Yoga's routing reads both. `url` is created from the request unless an earlier hook has read it.
  if (url instanceof fetchAPI.URL) url.pathname = endpoint
  if (serverContext) alias.enter(serverContext)
}

/** Returns the request with another URL. It is a proxy, because the body can be read only once. */
function withUrl(request: Request, url: string): Request {
  return new Proxy(request, {
    get(target, key) {
      if (key === 'url') return url
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function parseHooks({ checkRequest, wrapParser }: Behaviour): Plugin {
  if (!checkRequest && !wrapParser) return {}
  return {
    onRequestParse({ request, requestParser, setRequestParser, serverContext }) {
      const context = serverContext as unknown as Context
      return after(checkRequest?.(request, context), () => {
        if (!wrapParser || !requestParser) return undefined
        setRequestParser(wrapParser(requestParser as never, request, context) as never)
        return undefined
      })
    },
  }
}

function paramsHooks({ changeParams, admit }: Behaviour): Plugin {
  if (!changeParams && !admit) return {}
  return {
    onParams({ params, request, context, setParams }) {
      return after(changeParams?.(params as ReceivedParams, request), (changed) => {
        if (changed) setParams(changed as never)
        return admit?.(changed ?? (params as ReceivedParams), request, context as unknown as Context)
      })
    },
  }
}

function responseHooks(behaviour: Behaviour): Hooks<'onResponse'> {
  return {
    onResponse({ request, response, serverContext, setResponse, fetchAPI }) {
      const context = serverContext as unknown as Context
      if (behaviour.respond?.({ request, context }, response) === 304)
        setResponse(notModified(response, fetchAPI))
    },
  }
}

export type PluginWithBehaviour = Plugin & { readonly behaviour: Behaviour }

/**
 * Adds a behaviour to a plugin, and the hooks that follow from it.
 * @throws TypeError if the plugin has one of these hooks itself, because the rule would then exist twice
 */
export function withBehaviour<Given extends Plugin>(
  plugin: Given,
  behaviour: Behaviour = {},
): Plugin & Given & { readonly behaviour: Behaviour } {
  const hooks = hooksOf(behaviour)
  for (const name of Object.keys(hooks) as Extract<keyof Plugin, string>[])
    if (plugin[name])
      throw new TypeError(
        `A plugin has the hook ${name} and a behaviour from which ${name} follows. Remove the hook from the plugin.`,
      )
  return Object.assign(hooks, plugin, { behaviour })
}

/** Steps at which plugins without a behaviour run by their own hooks. */
const HOOK_NAMES = [
  'onRequest',
  'onRequestParse',
  'onParams',
  'onEnveloped',
  'onParse',
  'onValidate',
  'onContextBuilding',
  'onExecute',
  'onExecutionResult',
  'onResultProcess',
  'onResponse',
] as const

const ENVELOPS: ReadonlySet<string> = new Set(['init', 'parse', 'validate', 'context'])

type HookName = (typeof HOOK_NAMES)[number]

/** Hooks of one plugin without a behaviour. */
type PluginHooks = Readonly<Partial<Record<HookName, Hook>>>

/** Groups the hooks of all plugins without a behaviour by step, in the order of the plugins. */
export class Others {
  readonly onExecutionResult: readonly Hook[]
  /** Whether a plugin hooks into parsing or validation, so that Envelop parses and validates each document. */
  readonly readsDocuments: boolean
  readonly validates: boolean
  /** Whether a plugin can read the values in documents. */
  readonly seesLiterals: boolean
  /** Whether a plugin builds the context or chooses the schema. */
  readonly buildsContext: boolean
  /** Whether a plugin can read or replace results. */
  readonly seesResults: boolean
  readonly processesResults: boolean
  /** Whether a plugin instruments parsing, validation or context building of Envelop. */
  readonly instruments: boolean

  /** Groups the hooks. `instrumented` lists the steps that plugins instrument. */
  constructor(plugins: readonly PluginHooks[], instrumented: readonly string[] = []) {
    const named = (name: HookName): readonly Hook[] => plugins.flatMap((plugin) => plugin[name] ?? [])
    const has = (...names: readonly HookName[]): boolean => names.some((name) => named(name).length > 0)
    this.onExecutionResult = named('onExecutionResult')
    this.readsDocuments = has('onParse', 'onValidate')
    this.validates = has('onValidate')
    this.seesLiterals = has('onParse', 'onValidate', 'onExecute')
    this.buildsContext = has('onContextBuilding', 'onEnveloped')
    this.processesResults = has('onResultProcess')
    this.seesResults = has('onParams', 'onExecute', 'onExecutionResult', 'onResultProcess')
    this.instruments = instrumented.some((step) => ENVELOPS.has(step))
  }
}

type AnyPlugin = Readonly<Record<string, unknown>>

/** Behaviour of one plugin, or its hooks if it has no behaviour. */
export type PluginStep =
  | { readonly behaviour: Behaviour; readonly hooks?: undefined }
  | { readonly behaviour?: undefined; readonly hooks: PluginHooks }

interface ReadPlugins {
  /** Behaviours and hooks in the order of the plugins. */
  readonly steps: readonly PluginStep[]
  /** Steps that plugins instrument. */
  readonly instrumented: readonly string[]
  /** Yoga's hook that adds headers to responses for requests with an `Origin`. */
  readonly cors: Hook | undefined
}

/** Yoga's plugins that implement options of the server. They are treated as plugins of the user. */
const BY_OPTION: ReadonlySet<string> = new Set<keyof YogasPlugins>([
  'schema',
  'context',
  'allowedRequestHeaders',
  'allowedResponseHeaders',
])

/**
 * Returns the behaviour or the hooks of each plugin of a server. Yoga's own hooks are omitted, because the
 * pipeline does the same.
 */
export function readPlugins(given: readonly unknown[]): ReadPlugins {
  const places = Object.entries(yogasPlugins(given))
  const yogas = new Set<unknown>(places.flatMap(([place, plugin]) => (BY_OPTION.has(place) ? [] : [plugin])))
  const plugins = given.filter((plugin) => plugin !== null && typeof plugin === 'object') as AnyPlugin[]
  const steps: PluginStep[] = []
  const instrumented = new Set<string>()
  let cors: Hook | undefined
  for (const plugin of plugins) {
    const { behaviour } = plugin
    if (isBehaviour(behaviour)) {
      steps.push({ behaviour })
      continue
    }
    const hooks: Record<string, Hook> = {}
    for (const name of HOOK_NAMES) {
      const hook = plugin[name]
      if (typeof hook !== 'function') continue
      if (!yogas.has(plugin)) hooks[name] = hook as Hook
      else if (name === 'onResponse') cors = hook as Hook
    }
    if (Object.keys(hooks).length > 0) steps.push({ hooks })
    for (const name of Object.keys(Object(plugin['instrumentation']) as object)) instrumented.add(name)
  }
  return { steps, instrumented: [...instrumented], cors }
}

export function isBehaviour(value: unknown): value is Behaviour {
  return typeof value === 'object' && value !== null
}
