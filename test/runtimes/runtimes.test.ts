import { readdirSync, readFileSync } from 'node:fs'
import { createDisposables } from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { ownExample } from './support/examples.ts'
import type { Host, Start } from './support/host.ts'
import { hosts } from './support/hosts.ts'
import { outcomeOf } from './support/outcome.ts'
import { type Backends, type Plugin, plugins } from './support/plugins.ts'
import { startBackends } from './support/world.ts'

const installed = inject('installed')
const ofFile = createDisposables(afterAll)
let backends: Backends
beforeAll(async () => {
  backends = await startBackends(ofFile)
})

type Hook = (dispose: () => Promise<void>) => void

function startOf(plugin: Plugin, hook: Hook): Start {
  return { installed, plugin, code: plugin.code(backends), disposables: createDisposables(hook) }
}

const usefulOn = (host: Host): Plugin[] => plugins.filter(({ name }) => host.without?.[name] === undefined)

describe.each(hosts.map((host) => [host.name, host] as const))('%s', (_, host) => {
  const useful = usefulOn(host)
  beforeAll(() => host.prepare?.(useful.map((plugin) => startOf(plugin, afterAll))))

  it.runIf(host.example !== undefined)('the example as it stands', async ({ onTestFinished }) => {
    const own = ownExample(host.refuses?.['live-query'] === undefined)
    expect(await outcomeOf(host, startOf(own, onTestFinished))).toBe('answers')
  })

  it.concurrent.for(useful.map((plugin) => [plugin.name, plugin] as const))(
    '%s',
    async ([name, plugin], { onTestFinished }) => {
      const outcome = await outcomeOf(host, startOf(plugin, onTestFinished))
      expect(outcome).toMatch(host.refuses?.[name] ?? /^answers$/)
    },
  )

  it('what it cannot do stands in a README', () => {
    const sentences = Object.entries({ ...host.refuses, ...host.without })
    const unsaid = sentences.filter(
      ([name, sentence]) => !plugins.find((plugin) => plugin.name === name)?.readme.includes(sentence),
    )
    expect(unsaid).toEqual([])
  })
})

describe('examples/', () => {
  const folder = new URL('../../examples/', import.meta.url)
  const names = readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  )

  it('all of them are run', () => {
    expect(names.filter((name) => !hosts.some(({ example }) => example === name))).toEqual([])
  })

  it('the README lists all of them', () => {
    const readme = readFileSync(new URL('README.md', folder), 'utf8')
    expect(names.filter((name) => !readme.includes(`| \`${name}\` `))).toEqual([])
  })

  it('every example that can be live has the same yoga.js', () => {
    const live = names.filter((name) => name !== 'worker')
    const texts = live.map((name) => readFileSync(new URL(`${name}/yoga.js`, folder), 'utf8'))
    expect(texts.length).toBeGreaterThan(7)
    expect(new Set(texts).size).toBe(1)
  })
})
