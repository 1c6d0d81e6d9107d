type Plugin = Readonly<Record<string, unknown>>

/** What a Yoga server does by itself, so that it can be told from what plugins add. */
export interface OwnHooks {
  /** Plugins of a server of the same class that was given none, in their order; empty where it cannot be looked into. */
  readonly plugins: readonly Plugin[]
  /** Whether a hook is Yoga's own. False where that cannot be known, which is right and slower. */
  has(hook: unknown): boolean
}

/**
 * Makes a bare server of the same class and reads its hooks: equal code is Yoga's own. `yoga` is what `onYogaInit` is
 * given; what `createYoga` returns is of no class of Yoga's.
 */
export function readOwnHooks(yoga: object): OwnHooks {
  const plugins = barePlugins(yoga)
  const code = new Set(plugins.flatMap((plugin) => Object.values(plugin).filter(isFunction).map(String)))
  return { plugins, has: (hook) => isFunction(hook) && code.has(String(hook)) }
}

function barePlugins({ constructor }: object): readonly Plugin[] {
  let plugins: readonly unknown[] = []
  try {
    const probe = { onPluginInit: (init: { plugins: readonly unknown[] }) => void (plugins = init.plugins) }
    void Reflect.construct(constructor, [{ logging: false, cors: {}, plugins: [probe] }])
    return plugins.filter((plugin): plugin is Plugin => isObject(plugin) && plugin !== probe)
  } catch {
    return []
  }
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
