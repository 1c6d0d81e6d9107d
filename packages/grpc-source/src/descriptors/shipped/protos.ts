import { readdirSync, readFileSync } from 'node:fs'

const FOLDER = new URL('../../../proto/', import.meta.url)

/**
 * The `.proto` files that come with this package, by the path that imports them. `bundle.mjs` writes their texts in the place of
 * this module: whoever bundles `dist` has no folder beside it.
 */
export const SHIPPED_PROTOS: ReadonlyMap<string, string> = new Map(
  readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.proto'))
    .map((path) => [path.replaceAll('\\', '/'), readFileSync(new URL(path, FOLDER), 'utf8')]),
)
