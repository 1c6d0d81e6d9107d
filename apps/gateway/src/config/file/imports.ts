import { readFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { dirname, relative, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Jiti } from 'jiti'

export interface Imports {
  /** The module and all that it imports by path, directly or not. */
  readonly files: readonly string[]
  /** Packages that these files import by name, each with the importing file. */
  readonly packages: readonly { readonly specifier: string; readonly importer: string }[]
}

/** Imports, exports and requires as they are written; what stands in a comment does no harm. */
const SPECIFIER =
  /(?:\bfrom|\bimport|\b(?:import|require)\s*\()\s*(?<quote>['"`])(?<specifier>[^'"`\n$]+)\k<quote>/g
const MAX_FILES = 1_000

/** Looks at what a config imports without running it. */
export async function importsOf(file: string, jiti: Jiti): Promise<Imports> {
  const files = [file]
  const packages: { specifier: string; importer: string }[] = []
  for (const importer of files) {
    const text = await readFile(importer, 'utf8').catch(() => '')
    for (const { groups } of text.matchAll(SPECIFIER)) {
      const specifier = groups?.['specifier'] ?? ''
      if (isBuiltin(specifier)) continue
      if (!/^(?:\.|\/|file:)/.test(specifier)) {
        packages.push({ specifier, importer })
        continue
      }
      const found = jiti.esmResolve(specifier, { parentURL: pathToFileURL(importer), try: true })
      if (!found?.startsWith('file:') || files.length >= MAX_FILES) continue
      const path = fileURLToPath(found)
      if (!files.includes(path) && !isPackage(path, importer)) files.push(path)
    }
  }
  return { files, packages }
}

/** Whether the way to it leads into a package, which stays as it was read first, with what it imports. */
function isPackage(path: string, importer: string): boolean {
  return relative(dirname(importer), path).split(sep).includes('node_modules')
}
