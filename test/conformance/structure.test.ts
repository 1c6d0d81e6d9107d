import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findCircles, importsUnder, sourceFilesUnder, targetOf, type SourceImport } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

describe('inside packages and apps', () => {
  it('circles between files are found, those of types and of a file with itself too', () => {
    const from = (file: string, specifier: string, typeOnly = false) => ({ file, specifier, typeOnly })
    expect(
      findCircles([
        from('a/src/one.ts', './two.ts', true),
        from('a/src/two.ts', './deep/three.ts'),
        from('a/src/deep/three.ts', '../one.ts'),
        from('a/src/deep/three.ts', 'graphql'),
        from('a/src/alone.ts', './alone.ts'),
        from('a/src/above.ts', './one.ts'),
      ]),
    ).toEqual([['a/src/deep/three.ts', 'a/src/one.ts', 'a/src/two.ts'], ['a/src/alone.ts']])
  })

  it.each(['packages', 'apps'])('no files of %s import each other in a circle, types counted', (folder) => {
    expect(findCircles(importsUnder(root, folder))).toEqual([])
  })

  it('the rooms of a package import each other one way', () => {
    // Files beside the rooms, in `src` itself, may be below some and above others.
    const roomOf = (file: string): string => file.split('/').slice(0, 4).join('/')
    const between = importsUnder(root, 'packages').flatMap((one): SourceImport[] => {
      const target = targetOf(one)
      const [from, to] = [roomOf(one.file), roomOf(target ?? one.file)]
      const isInside = from === to || from.endsWith('.ts') || to.endsWith('.ts')
      return isInside ? [] : [{ file: from, specifier: `./${to.split('/')[3]}`, typeOnly: one.typeOnly }]
    })
    expect(between.length).toBeGreaterThan(20)
    expect(findCircles(between)).toEqual([])
  })

  it('a folder of the sources has at most fifteen files side by side', () => {
    const sizes = new Map<string, number>()
    for (const file of sourceFilesUnder(root, 'packages')) {
      const folder = file.slice(0, file.lastIndexOf('/'))
      sizes.set(folder, (sizes.get(folder) ?? 0) + 1)
    }
    const roomy = /^packages\/(grpc-source|rest-connector|source-kit)\//
    expect([...sizes].filter(([folder, size]) => size > 15 && roomy.test(folder))).toEqual([])
  })
})

it('ARCHITECTURE.md can be read: no row of a table has more than 200 characters', () => {
  const rows = readFileSync(`${root}/ARCHITECTURE.md`, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('|'))
  expect(rows.filter(({ length }) => length > 200)).toEqual([])
})
