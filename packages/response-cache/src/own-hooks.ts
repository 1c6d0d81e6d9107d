import type { FetchAPI, Plugin } from 'graphql-yoga'

type Plugins = readonly (Plugin | null | undefined | false)[]

/** What a Yoga server does by itself, so that it can be told from what plugins add. */
export interface OwnHooks {
  /** Whether a plugin of the list has a hook of this name that is not Yoga's own. */
  isAdded(plugins: Plugins, name: keyof Plugin): boolean
  /** Yoga's parser of JSON bodies, as it is handed to `setRequestParser`. */
  readonly jsonParser: unknown
}

/**
 * Makes a bare server of the same class and reads its hooks: equal code is Yoga's own. Where that does
 * not work, every hook counts as added, which costs speed alone.
 */
export function readOwnHooks(yoga: { readonly fetchAPI: FetchAPI }): OwnHooks {
  const own = bareHooks(yoga)
  const code = new Set(own.flatMap((plugin) => Object.values(plugin).filter(isFunction).map(String)))
  return {
    isAdded: (plugins, name) =>
      plugins.some((plugin) => plugin && isFunction(plugin[name]) && !code.has(String(plugin[name]))),
    jsonParser: jsonParserOf(own, yoga.fetchAPI),
  }
}

function bareHooks({ constructor }: object): readonly Plugin[] {
  let plugins: readonly Plugin[] = []
  try {
    const probe: Plugin = { onPluginInit: (payload) => void (plugins = payload.plugins) }
    void Reflect.construct(constructor, [{ logging: false, plugins: [probe] }])
    return plugins.filter((plugin) => plugin !== probe)
  } catch {
    return []
  }
}

function jsonParserOf(plugins: readonly Plugin[], fetchAPI: FetchAPI): unknown {
  const headers = { 'content-type': 'application/json' }
  let requestParser: unknown
  for (const { onRequestParse } of plugins) {
    void onRequestParse?.({
      request: new fetchAPI.Request('http://localhost/graphql', { method: 'POST', headers }),
      url: new fetchAPI.URL('http://localhost/graphql'),
      requestParser: requestParser as never,
      setRequestParser: (parser) => void (requestParser = parser),
      endResponse: () => {},
      serverContext: {} as never,
      fetchAPI,
    })
  }
  return requestParser
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}
