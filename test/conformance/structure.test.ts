import { fileURLToPath } from 'node:url'
import { findCircles, importsUnder } from '@vinyasa/test-kit'
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
})
