import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The installed version of a package, found from the module that asks: `versionOf('graphql', import.meta.url)`. */
export function versionOf(name: string, from: string): string {
  let folder = dirname(fileURLToPath(from))
  while (folder !== dirname(folder)) {
    try {
      const text = readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')
      return (JSON.parse(text) as { version: string }).version
    } catch {
      folder = dirname(folder)
    }
  }
  return 'unknown'
}

export function versionsOf(names: readonly string[], from: string): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, versionOf(name, from)]))
}
