import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRandom } from '@vinyasa/test-kit'

/** So many lines of code of a folder's sources, drawn by a seed, each as Stryker names it: `file:line-line`. */
export function drawLines(root: string, folder: string, count: number, seed: number): readonly string[] {
  const random = createRandom(seed, folder)
  const lines = sourcesOf(join(root, folder, 'src')).flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((text, index) =>
        isCode(text) ? [`${file.slice(root.length)}:${index + 1}-${index + 1}`] : [],
      ),
  )
  const drawn = new Set<string>()
  while (drawn.size < Math.min(count, lines.length)) drawn.add(random.pick(lines))
  return [...drawn]
}

function sourcesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.includes('gen/'))
    .toSorted()
    .map((file) => join(folder, file))
}

/** Imports and comments have nothing that can be changed, nor have most declarations of types: Stryker leaves those out. */
function isCode(text: string): boolean {
  return /\w/.test(text) && !/^\s*(?:\*|\/[/*]|import |export (?:type|interface|\*|\{))/.test(text)
}
