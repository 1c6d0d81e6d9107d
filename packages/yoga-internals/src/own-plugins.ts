import { yogasPlugins, type YogasPlugins } from './yogas-plugins.ts'

/** Yoga's plugins that do what an option of the server says. */
const BY_OPTION: ReadonlySet<string> = new Set<keyof YogasPlugins>([
  'schema',
  'context',
  'allowedRequestHeaders',
  'allowedResponseHeaders',
])

/** Which plugins of a server do what every Yoga server does, told by their places. */
export function yogasOwnPlugins(plugins: readonly unknown[]): ReadonlySet<unknown> {
  const places = Object.entries(yogasPlugins(plugins))
  return new Set(places.filter(([place]) => !BY_OPTION.has(place)).map(([, plugin]) => plugin))
}
