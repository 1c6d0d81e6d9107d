import { readFileSync } from 'node:fs'

/** The version in this package's own package.json. */
export function version(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  const manifest = JSON.parse(text) as { readonly version: string }
  return manifest.version
}

/** Undefined for what was built from the sources between releases. */
export function releasedVersion(): string | undefined {
  const own = version()
  return own === '0.0.0' ? undefined : own
}
