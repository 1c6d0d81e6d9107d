import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findCircles, importsUnder, sourceFilesUnder, targetOf, type SourceImport } from '@vinyasa/test-kit'
import { functionExtents } from '@vinyasa/test-kit/function-extents'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Imports from room to room. Files beside the rooms, in `src` itself, may be below some and above others. */
function roomImports(folder: string): SourceImport[] {
  const roomOf = (file: string): string => file.split('/').slice(0, 4).join('/')
  return importsUnder(root, folder).flatMap((one): SourceImport[] => {
    const target = targetOf(one)
    const [from, to] = [roomOf(one.file), roomOf(target ?? one.file)]
    const isInside = from === to || from.endsWith('.ts') || to.endsWith('.ts')
    return isInside ? [] : [{ file: from, specifier: `./${to.split('/')[3]}`, typeOnly: one.typeOnly }]
  })
}

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

  it.each(['packages', 'apps'])('the rooms of one of %s import each other one way', (folder) => {
    const imports = roomImports(folder)
    expect(imports.length).toBeGreaterThan(20)
    expect(findCircles(imports)).toEqual([])
  })

  it.each(['packages', 'apps'])('a folder of %s has at most fifteen source files side by side', (folder) => {
    const sizes = new Map<string, number>()
    for (const file of sourceFilesUnder(root, folder)) {
      const inside = file.slice(0, file.lastIndexOf('/'))
      sizes.set(inside, (sizes.get(inside) ?? 0) + 1)
    }
    expect(sizes.size).toBeGreaterThan(5)
    expect([...sizes].filter(([, size]) => size > 15)).toEqual([])
  })

  it.each(['packages', 'apps'])(
    'a source file of %s that is not generated has 500 lines at most',
    (folder) => {
      const files = sourceFilesUnder(root, folder).filter((file) => !file.includes('/gen/'))
      expect(files.length).toBeGreaterThan(50)
      const linesOf = (file: string): number =>
        readFileSync(`${root}/${file}`, 'utf8').trimEnd().split('\n').length
      expect(files.filter((file) => linesOf(file) > 500)).toEqual([])
    },
  )

  it('functions are found with all that is inside them, by the name that they or their holders have', () => {
    const text = [
      'export function outer() {',
      '  const inner = () => {',
      '    return 1',
      '  }',
      '  return { method() {}, inner }',
      '}',
      'class Room { #held = () => {}; get size() { return 1 } }',
      '[1].map((one) => one)',
    ].join('\n')
    expect(functionExtents(text)).toEqual([
      { name: 'outer', lines: 6 },
      { name: 'inner', lines: 3 },
      { name: 'method', lines: 1 },
      { name: 'held', lines: 1 },
      { name: 'size', lines: 1 },
      { name: '?', lines: 1 },
    ])
  })

  it('a function has 100 lines at most, counted whole', () => {
    const files = ['packages', 'apps'].flatMap((folder) => sourceFilesUnder(root, folder))
    const extents = files
      .filter((file) => !file.includes('/gen/'))
      .flatMap((file) =>
        functionExtents(readFileSync(`${root}/${file}`, 'utf8')).map((one) => ({ file, ...one })),
      )
    expect(extents.length).toBeGreaterThan(1000)
    const long = extents.filter(({ lines }) => lines > 100).map(({ file, name }) => `${file} ${name}`)
    expect(long.toSorted()).toEqual([])
  })
})

it('tests that make temporary folders remove folders', () => {
  const places = ['test', 'packages/*/test', 'apps/*/test'].flatMap((place) => [
    `${place}/*.ts`,
    `${place}/*.mjs`,
  ])
  const found = execFileSync('git', ['grep', '-l', 'mkdtemp[S(]', '--', ...places], {
    cwd: root,
    encoding: 'utf8',
  })
  const files = found.trim().split('\n')
  expect(files.length).toBeGreaterThan(10)
  expect(files.filter((file) => !/\brm(?:Sync)?\(/.test(readFileSync(`${root}${file}`, 'utf8')))).toEqual([])
})
