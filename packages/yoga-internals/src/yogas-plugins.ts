/** A plugin's hooks by their names. */
export type PluginHooks = Readonly<Record<string, unknown>>

/**
 * The places of Yoga 5's own plugins, and the hooks that each has there: none where an option turns it off.
 * These stand before the plugins that a server is given.
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

/** These stand behind them. */
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

/** Yoga's own plugins by their places; one that is turned off is not among them. */
export type YogasPlugins = Readonly<Partial<Record<keyof typeof HEAD | keyof typeof TAIL, PluginHooks>>>

/**
 * Tells the plugins that Yoga itself adds to a server from those that it is given, by place: Yoga's code says nothing, as
 * people add plugins that Yoga has too. The tail is the last row of plugins with these hooks, since plugins can put others
 * behind it. Empty where a version of Yoga is built differently: every plugin is then somebody else's, which is right and
 * slower.
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
