import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const IMPORT = /(?:\b(?:import|export)\b(\s+type\b)?[^'"`;]*?\bfrom\s*|\bimport\s*\(?\s*)['"]([^'"]+)['"]/g

interface Import {
  readonly file: string
  readonly specifier: string
  readonly typeOnly: boolean
}

function importsUnder(folder: string): Import[] {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && path.split(sep)[1] === 'src')
    .flatMap((path) => {
      const file = `${folder}/${path.split(sep).join('/')}`
      const source = readFileSync(join(root, file), 'utf8')
      return [...source.matchAll(IMPORT)].map(([, type, specifier = '']) => ({
        file,
        specifier,
        typeOnly: type !== undefined,
      }))
    })
}

describe('dependencies point one way: apps → packages → the types of @vinyasa/invalidation', () => {
  const ofPackages = importsUnder('packages')
  const ofApps = importsUnder('apps')

  it('reads real imports', () => {
    expect(ofPackages).toContainEqual({
      file: 'packages/invalidation/src/bus.ts',
      specifier: './types.ts',
      typeOnly: true,
    })
  })

  it('no package imports a sibling, except types from @vinyasa/invalidation', () => {
    const wrong = ofPackages.filter(
      ({ file, specifier, typeOnly }) =>
        specifier.startsWith('@vinyasa/') &&
        !specifier.startsWith(`@vinyasa/${file.split('/')[1]}`) &&
        !(specifier.startsWith('@vinyasa/invalidation') && typeOnly),
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
