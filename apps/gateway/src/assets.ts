import { readdirSync, readFileSync } from 'node:fs'

const FOLDER = new URL('../assets/', import.meta.url)

/**
 * The texts of this package's assets, by their paths. `bundle.mjs` writes them in the place of this module: whoever bundles
 * `dist` has no folder beside it.
 */
export const ASSETS: ReadonlyMap<string, string> = new Map(
  readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.\w+$/.test(path))
    .map((path) => [path.replaceAll('\\', '/'), readFileSync(new URL(path, FOLDER), 'utf8')]),
)
