import { fileURLToPath } from 'node:url'
import { importsUnder } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

describe('dependencies point one way: apps → packages → @vinyasa/invalidation', () => {
  const ofPackages = importsUnder(root, 'packages')
  const ofApps = importsUnder(root, 'apps')

  it('reads real imports', () => {
    expect(ofPackages).toContainEqual({
      file: 'packages/invalidation/src/bus.ts',
      specifier: './types.ts',
      typeOnly: true,
    })
  })

  it('no package imports a sibling, except @vinyasa/invalidation, which imports none', () => {
    const wrong = ofPackages.filter(
      ({ file, specifier }) =>
        specifier.startsWith('@vinyasa/') &&
        !specifier.startsWith(`@vinyasa/${file.split('/')[1]}`) &&
        (specifier !== '@vinyasa/invalidation' || file.startsWith('packages/invalidation/')),
    )
    expect(wrong).toEqual([])
  })

  it('no source leaves its own package by a relative path', () => {
    const wrong = [...ofPackages, ...ofApps].filter(({ file, specifier }) => {
      const depth = file.split('/').length - 2
      return specifier.startsWith('.') && specifier.split('/').filter((part) => part === '..').length >= depth
    })
    expect(wrong).toEqual([])
  })

  it('no package imports an app or the tests', () => {
    const outside = /^@vinyasa\/(gateway|demo-|test)/
    expect(ofPackages.filter(({ specifier }) => outside.test(specifier))).toEqual([])
    expect(ofApps.filter(({ specifier }) => specifier.startsWith('@vinyasa/test'))).toEqual([])
  })
})
