import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'

/** One `import … from`, `export … from` or `import()` of a source file. */
export interface SourceImport {
  /** From the root, with `/`. */
  readonly file: string
  readonly specifier: string
  readonly typeOnly: boolean
}

const IMPORT = /(?:\b(?:import|export)\b(\s+type\b)?[^'"`;]*?\bfrom\s*|\bimport\s*\(?\s*)['"]([^'"]+)['"]/g

/** The TypeScript files in `src` of every package or app under a folder, from the root, with `/`. */
export function sourceFilesUnder(root: string, folder: string): string[] {
  const sources = readdirSync(join(root, folder)).map((name) => `${folder}/${name}/src`)
  return sources
    .filter((path) => existsSync(join(root, path)))
    .flatMap((path) =>
      readdirSync(join(root, path), { recursive: true, encoding: 'utf8' }).map(
        (file) => `${path}/${file.split(sep).join('/')}`,
      ),
    )
    .filter((file) => file.endsWith('.ts'))
    .toSorted()
}

export function importsUnder(root: string, folder: string): SourceImport[] {
  return sourceFilesUnder(root, folder).flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(IMPORT)].map(([, type, specifier = '']) => ({
      file,
      specifier,
      typeOnly: type !== undefined,
    })),
  )
}

/** The file that a relative import names; undefined for an import of a package. */
export function targetOf({ file, specifier }: SourceImport): string | undefined {
  if (!specifier.startsWith('.')) return undefined
  return relative('/', join('/', dirname(file), specifier))
    .split(sep)
    .join('/')
}

/** Groups of files that reach each other over their imports, those of types included (Tarjan's algorithm). */
export function findCircles(imports: readonly SourceImport[]): string[][] {
  const edges = new Map<string, Set<string>>()
  for (const one of imports) {
    const target = targetOf(one)
    if (target === undefined) continue
    edges.set(one.file, (edges.get(one.file) ?? new Set()).add(target))
  }
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const circles: string[][] = []

  function visit(file: string): number {
    const own = order.size
    order.set(file, own)
    lowest.set(file, own)
    open.push(file)
    for (const target of edges.get(file) ?? []) {
      const reached = order.has(target)
        ? open.includes(target)
          ? order.get(target)
          : undefined
        : visit(target)
      if (reached !== undefined) lowest.set(file, Math.min(lowest.get(file) as number, reached))
    }
    const low = lowest.get(file) as number
    if (low !== own) return low
    const group = open.splice(open.indexOf(file))
    if (group.length > 1 || edges.get(file)?.has(file)) circles.push(group.toSorted())
    return low
  }

  for (const file of edges.keys()) if (!order.has(file)) visit(file)
  return circles
}
