import { yogasPlugins, type YogasPlugins } from './yogas-plugins.ts'

/** What a Yoga server does by itself, so that it can be told from what plugins add. */
export interface OwnHooks {
  readonly plugins: readonly object[]
  has(hook: unknown): boolean
  /** Which plugins of a server do what every Yoga server does. */
  among(plugins: readonly unknown[]): ReadonlySet<unknown>
}

/** Those that do what an option of the server says. */
const BY_OPTION: ReadonlySet<string> = new Set<keyof YogasPlugins>([
  'schema',
  'context',
  'allowedRequestHeaders',
  'allowedResponseHeaders',
])

/** Tells Yoga's plugins by their places. */
export function readOwnHooks(_yoga: object): OwnHooks {
  return {
    plugins: [],
    has: () => false,
    among(given) {
      const own = Object.entries(yogasPlugins(given)).filter(([place]) => !BY_OPTION.has(place))
      return new Set(own.map(([, plugin]) => plugin))
    },
  }
}
