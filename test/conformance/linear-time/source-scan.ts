import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sourceFilesUnder } from '@vinyasa/test-kit'
import { parseAst } from 'rolldown/parseAst'

const root = fileURLToPath(new URL('../../..', import.meta.url))

interface Node {
  readonly type: string
  readonly regex?: { readonly pattern: string; readonly flags: string }
}

export interface ScannedSource {
  /** From the root of the repository, without `.ts`. */
  readonly file: string
  readonly expressions: readonly RegExp[]
}

/** Reads the sources of all packages and apps. */
export function scanSources(): ScannedSource[] {
  return ['packages', 'apps'].flatMap((folder) => sourceFilesUnder(root, folder)).map(scan)
}

function scan(path: string): ScannedSource {
  const expressions: RegExp[] = []

  function visit(node: unknown): void {
    if (Array.isArray(node)) return node.forEach(visit)
    if (!isNode(node)) return
    if (node.regex) expressions.push(new RegExp(node.regex.pattern, node.regex.flags))
    for (const child of Object.values(node)) visit(child)
  }

  visit(parseAst(readFileSync(join(root, path), 'utf8'), { lang: 'ts' }).body)
  return { file: path.replace(/\.ts$/, ''), expressions }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value
}
