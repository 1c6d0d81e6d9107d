import { readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished, vi } from 'vitest'
import * as own from '@vinyasa/invalidation'
import * as nats from '@vinyasa/invalidation/nats'
import * as redis from '@vinyasa/invalidation/redis'

const README = new URL('../README.md', import.meta.url)

it("runs the README's example: who reacts comes after the caches", async () => {
  const example = /```ts\n([\s\S]*?)```/.exec(await readFile(README, 'utf8'))?.[1] ?? ''
  const file = fileURLToPath(new URL('readme-example.ts', import.meta.url))
  await writeFile(file, `${example}\nexport {}\n`)
  onTestFinished(() => rm(file))
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  await import(/* @vite-ignore */ file)
  expect(log.mock.calls).toEqual([[[{ entityType: 'User', operation: 'update', entityId: '1' }], 0]])
})

it('has every function that its table names', async () => {
  const table = (await readFile(README, 'utf8')).split('\n').filter((line) => line.startsWith('| `'))
  const names = table.flatMap((line) =>
    [...(line.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name),
  )
  expect(names.length).toBeGreaterThan(6)
  const all = { ...own, ...nats, ...redis }
  expect(names.filter((name) => !(String(name) in all))).toEqual([])
})
