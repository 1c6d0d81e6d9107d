type Plugin = Readonly<Record<string, unknown>>

/** What a Yoga server does by itself, so that it can be told from what plugins add. */
export interface OwnHooks {
  /** Plugins of a server of the same class that was given none, in their order; empty where it cannot be looked into. */
  readonly plugins: readonly Plugin[]
  /** Whether a hook is Yoga's own. False where that cannot be known, which is right and slower. */
  has(hook: unknown): boolean
  /**
   * Which plugins of a server are Yoga's own: those at its head and at its tail. Not by their code alone, as people add
   * plugins that Yoga has too (`useMaskedErrors`).
   */
  among(plugins: readonly unknown[]): ReadonlySet<unknown>
}

/**
 * Makes a bare server of the same class and reads its hooks: equal code is Yoga's own. `yoga` is what `onYogaInit` is
 * given; what `createYoga` returns is of no class of Yoga's.
 */
export function readOwnHooks(yoga: object): OwnHooks {
  const plugins = barePlugins(yoga)
  const code = new Set(plugins.flatMap((plugin) => Object.values(plugin).filter(isFunction).map(String)))
  const has = (hook: unknown): boolean => isFunction(hook) && code.has(String(hook))
  return { plugins, has, among: (given) => new Set([...headOf(given, has), ...tailOf(given, plugins)]) }
}

/** Yoga's plugins before those that it is given; the last of them is the first that hooks into `onResultProcess`. */
function headOf(given: readonly unknown[], has: (hook: unknown) => boolean): readonly unknown[] {
  const last = given.findIndex((plugin) => isObject(plugin) && 'onResultProcess' in plugin)
  return given.slice(0, last + 1).filter((plugin) => hooksOf(plugin).every(has))
}

/** Yoga's plugins behind those that it is given: some may be off, and their order is fixed. */
function tailOf(given: readonly unknown[], bare: readonly Plugin[]): readonly unknown[] {
  const codes = bare.map(codeOf)
  let place = codes.length
  const tail: unknown[] = []
  for (const plugin of given.toReversed()) {
    // What is off is no plugin; what this repository puts behind all others says what it is.
    if (!isObject(plugin) || 'shortWay' in plugin) continue
    const code = codeOf(plugin)
    const found = codes.findLastIndex((own, index) => index < place && own === code)
    if (found < 0) break
    tail.push(plugin)
    place = found
  }
  return tail
}

function hooksOf(plugin: unknown): unknown[] {
  return Object.entries(Object(plugin) as Plugin)
    .filter(([name, hook]) => /^on[A-Z]/.test(name) && isFunction(hook))
    .map(([, hook]) => hook)
}

function codeOf(plugin: unknown): string {
  return hooksOf(plugin).map(String).join('\n')
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
