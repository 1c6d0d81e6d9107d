import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { ask } from './kit.ts'

it('the example of the README runs', async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const example = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
  const folder = mkdtempSync(join(fileURLToPath(new URL('.', import.meta.url)), 'readme-'))
  try {
    const path = join(folder, 'example.ts')
    writeFileSync(path, example.replace('@vinyasa/response-cache', '../../src/index.ts'))
    const { yoga, cache } = await import(path)
    expect((await ask({ yoga }, '{ users { name } }')).cache).toBe('MISS')
    expect((await ask({ yoga }, '{ users { name } }')).cache).toBe('HIT')
    await ask({ yoga }, 'mutation { add(name: "Eve") { name } }')
    expect((await ask({ yoga }, '{ users { name } }')).json.data.users).toHaveLength(2)
    expect(cache.stats()).toMatchObject({ hits: 1, misses: 2 })
  } finally {
    rmSync(folder, { recursive: true })
  }
})

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')

it('the table of the README names every option', () => {
  const [, options = ''] = read('../src/options.ts').split('interface ResponseCacheOptions')
  const declared = [...options.matchAll(/^  readonly (\w+)\?: /gm)].map(([, name]) => name)
  const section = read('../README.md').split('## Options')[1]?.split('\n## ')[0] ?? ''
  const shown = [...section.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)
  // Only tests replace the platform.
  expect(shown.sort()).toEqual(declared.filter((name) => name !== 'platform').sort())
})
