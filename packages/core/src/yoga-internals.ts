import type { ExecutionArgs } from 'graphql'

/** Hooks of a plugin, by name. */
export type PluginHooks = Readonly<Record<string, unknown>>

/**
 * Yoga 5's own plugins before the plugins of the user, in order, with the hooks that each can have. A plugin that an
 * option turns off has no hooks.
 */
const HEAD = {
  engine: ['onExecute onParse onSubscribe onValidate'],
  schema: ['', 'onPluginInit', 'onEnveloped onRequestParse'],
  allowedRequestHeaders: ['', 'onRequest'],
  context: ['', 'onContextBuilding'],
  healthCheck: ['onRequest'],
  cors: ['', 'onRequest onResponse'],
  graphiql: ['', 'onRequest'],
  targetParser: ['onRequestParse'],
  jsonParser: ['onRequestParse'],
  multipartParser: ['', 'onRequestParse'],
  textParser: ['onRequestParse'],
  formParser: ['onRequestParse'],
  resultProcessors: ['onResultProcess onSubscribe'],
} as const

/** Yoga 5's own plugins after the plugins of the user, in order, with the hooks that each can have. */
const TAIL = {
  bodyLimit: ['', 'onRequestParse'],
  documentCache: ['', 'onParse onValidate'],
  batchLimit: ['onRequestParse'],
  parameters: ['onParams'],
  unhandledRoute: ['onRequest'],
  method: ['onRequestParse'],
  mutationByGet: ['onParse'],
  abortErrors: ['', 'onSubscribe'],
  maskedErrors: ['', 'onExecute onPluginInit onSubscribe'],
  allowedResponseHeaders: ['', 'onResponse'],
  validationErrors: ['onValidate'],
} as const

/** Yoga's own plugins by name, without the plugins that an option turns off. */
export type YogasPlugins = Readonly<Partial<Record<keyof typeof HEAD | keyof typeof TAIL, PluginHooks>>>

/**
 * Finds the plugins that Yoga itself adds to a server. They are found by position, because Yoga does not mark
 * them and users can add the same plugins. Plugins can append more plugins after Yoga's last plugins, so the
 * last sequence with the expected hooks counts. Returns `{}` for other versions of Yoga. Every plugin is then
 * treated as a plugin of the user, which is slower.
 */
export function yogasPlugins(given: readonly unknown[]): YogasPlugins {
  const head = pluginsAt(HEAD, given, 0)
  if (!head) return {}
  for (let at = given.length - 1; at > 0; at--) {
    const tail = pluginsAt(TAIL, given, at)
    if (tail) return { ...head, ...tail }
  }
  return {}
}

function pluginsAt(
  places: Readonly<Record<string, readonly string[]>>,
  given: readonly unknown[],
  start: number,
): YogasPlugins | undefined {
  const found: Record<string, PluginHooks> = {}
  let at = start
  for (const [place, allowed] of Object.entries(places)) {
    const plugin = Object(given[at++]) as PluginHooks
    const names = hookNames(plugin)
    if (!allowed.includes(names)) return undefined
    if (names) found[place] = plugin
  }
  return found
}

function hookNames(plugin: PluginHooks): string {
  const names = Object.keys(plugin).filter((name) => /^on[A-Z]/.test(name) && plugin[name])
  return names.toSorted().join(' ')
}

/** Reads the parameters of an operation from a request. */
type RequestParser = (request: Request) => unknown

type ParserHook = (payload: object) => unknown

/** Returns Yoga's hooks that select a parser. They read only the method and the content type of a request. */
export function parserHooks(own: YogasPlugins): ParserHook[] {
  const plugins = [own.targetParser, own.jsonParser, own.multipartParser, own.textParser, own.formParser]
  return plugins.flatMap((plugin) => (plugin ? [plugin['onRequestParse'] as ParserHook] : []))
}

/**
 * Returns the parser that the hooks select for a method and a content type. Returns `undefined` if they do
 * not select a parser, or if they read anything else of the request.
 */
export function chosenParser(
  hooks: readonly ParserHook[],
  method: 'GET' | 'POST',
  contentType: string,
): RequestParser | undefined {
  let chosen: RequestParser | undefined
  const get = (name: string): string | null => (name.toLowerCase() === 'content-type' ? contentType : null)
  const setRequestParser = (parser: RequestParser): void => void (chosen = parser)
  try {
    for (const hook of hooks) void hook({ request: { method, headers: { get } }, setRequestParser })
    return chosen
  } catch {
    return undefined
  }
}

/**
 * Returns the executor that Yoga 5 passes to Envelop in the `onExecute` hook of its first plugin,
 * `useEngine`. Returns `undefined` for other versions of Yoga. Callers then treat every executor as the
 * executor of another plugin, which is slower.
 */
export function yogasExecutor([engine]: readonly unknown[]): ((args: ExecutionArgs) => unknown) | undefined {
  const hook: unknown = Object(engine)['onExecute']
  let found: unknown
  try {
    if (typeof hook === 'function') hook({ setExecuteFn: (executor: unknown) => (found = executor) })
  } catch {
    return undefined
  }
  return typeof found === 'function' ? (found as (args: ExecutionArgs) => unknown) : undefined
}
