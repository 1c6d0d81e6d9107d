import { fileURLToPath } from 'node:url'
import { importsUnder, sourceFilesUnder, targetOf } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The floors of the gateway, the lowest first: rooms, and files beside them, which import what is on theirs or below. */
const FLOORS: readonly (readonly string[])[] = [
  // What all of them share.
  ['assets', 'coordinates', 'errors', 'option-values', 'texts', 'v8', 'version'],
  // Behaviours: identity, rules, documents, cost, rates, records, limits, each with its sections of the config.
  [
    'access',
    'answers',
    'bus',
    'context',
    'cost',
    'dependencies',
    'federation',
    'graphiql',
    'http',
    'limits',
    'logging',
    'observability',
    'presets',
    'rate-limit',
    'redis',
    'safety',
    'schema',
    'use-guard',
  ],
  ['sources'],
  ['config', 'define-config'],
  ['composition', 'gateway', 'status'],
  // The server.
  ['connections', 'server', 'workers'],
  ['cli', 'commands', 'index', 'main'],
]

describe('dependencies point one way: apps → packages → @vinyasa/invalidation → @vinyasa/core', () => {
  const ofPackages = importsUnder(root, 'packages')
  const ofApps = importsUnder(root, 'apps')

  it('reads real imports', () => {
    expect(ofPackages).toContainEqual({
      file: 'packages/invalidation/src/bus/bus.ts',
      specifier: '../types.ts',
      typeOnly: true,
    })
  })

  it('packages import only the packages and entries below them', () => {
    const core = ['core', 'core/documents', 'core/pipeline']
    const allowed: Readonly<Record<string, readonly string[]>> = {
      core: [],
      invalidation: ['core', 'core/documents'],
      'node-handler': ['core', 'core/pipeline'],
      'response-cache': [...core, 'invalidation', 'invalidation/redis'],
      'defer-splitter': [...core, 'invalidation'],
      'live-query': [...core, 'invalidation'],
      'source-kit': ['core', 'core/documents'],
      'grpc-transport': ['core'],
      'grpc-source': ['core', 'core/documents', 'invalidation', 'source-kit', 'grpc-transport'],
      'rest-connector': ['core', 'invalidation', 'source-kit'],
    }
    const wrong = ofPackages.filter(({ file, specifier }) => {
      const own = file.split('/')[1] as string
      const entry = specifier.match(/^@vinyasa\/(.+)/)?.[1]
      return entry !== undefined && entry.split('/')[0] !== own && !allowed[own]?.includes(entry)
    })
    expect(wrong).toEqual([])
  })

  it('the entries of @vinyasa/core import only those below them', () => {
    const levelOf = (file: string): number =>
      ['documents', 'pipeline'].indexOf(file.split('/')[3] as string) + 1
    const wrong = ofPackages.filter((one) => {
      const target = one.file.startsWith('packages/core/') ? targetOf(one) : undefined
      return target !== undefined && levelOf(target) > levelOf(one.file)
    })
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

describe('the rooms of the gateway stand on floors', () => {
  const roomOf = (file: string): string => (file.split('/')[3] as string).replace(/\.ts$/, '')
  const floorOf = (file: string): number => FLOORS.findIndex((floor) => floor.includes(roomOf(file)))

  it('each room, and each file beside them, is on one', () => {
    const files = sourceFilesUnder(root, 'apps').filter((file) => file.startsWith('apps/gateway/'))
    expect([...new Set(files.map(roomOf))].toSorted()).toEqual(FLOORS.flat().toSorted())
  })

  it('no room imports what is above it, types counted', () => {
    const inside = importsUnder(root, 'apps').flatMap((one) => {
      const target = targetOf(one)
      return one.file.startsWith('apps/gateway/') && target ? [{ file: one.file, target }] : []
    })
    expect(inside.length).toBeGreaterThan(500)
    expect(inside.filter(({ file, target }) => floorOf(target) > floorOf(file))).toEqual([])
  })
})
