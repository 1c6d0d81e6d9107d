import { readdirSync, readFileSync } from 'node:fs'
import { createDisposables } from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { ownExample } from './support/examples.ts'
import { hosts } from './support/hosts.ts'
import { outcomeOf } from './support/outcome.ts'
import { type Backends, plugins } from './support/plugins.ts'
import { startBackends } from './support/world.ts'

const installed = inject('installed')
const disposables = createDisposables(afterAll)
let backends: Backends
beforeAll(async () => {
  backends = await startBackends(disposables)
})

describe.each(hosts.map((host) => [host.name, host] as const))('%s', (_, host) => {
  it.runIf(host.example)('the example as it stands', async () => {
    const where = { installed, backends, disposables: createDisposables(onTestFinished) }
    const own = ownExample(host.refuses?.['live-query'] === undefined)
    expect(await outcomeOf(host, own, where)).toBe('answers')
  })

  const useful = plugins.filter(({ name }) => host.without?.[name] === undefined)
  it.each(useful.map((plugin) => [plugin.name, plugin] as const))('%s', async (_, plugin) => {
    const where = { installed, backends, disposables: createDisposables(onTestFinished) }
    expect(await outcomeOf(host, plugin, where)).toContain(host.refuses?.[plugin.name] ?? 'answers')
  })

  it('what it cannot do stands in a README', () => {
    const sentences = Object.entries({ ...host.refuses, ...host.without })
    const unsaid = sentences.filter(
      ([name, sentence]) => !plugins.find((plugin) => plugin.name === name)?.readme.includes(sentence),
    )
    expect(unsaid).toEqual([])
  })
})

it('every example that can be live has the same yoga.js', () => {
  const folder = new URL('../../examples/', import.meta.url)
  const names = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && entry.name !== 'worker',
  )
  const texts = names.map(({ name }) => readFileSync(new URL(`${name}/yoga.js`, folder), 'utf8'))
  expect(texts.length).toBeGreaterThan(7)
  expect(new Set(texts).size).toBe(1)
})
