import { readFileSync } from 'node:fs'

/** The version in this package's own package.json. `bundle.mjs` writes it in the place of this module. */
export function version(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  const manifest = JSON.parse(text) as { readonly version: string }
  return manifest.version
}
