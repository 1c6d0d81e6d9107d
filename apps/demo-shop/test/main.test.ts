import { fileURLToPath } from 'node:url'
import { createDisposables, spawnProcess } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const start = (port: string) =>
  spawnProcess({
    command: process.execPath,
    args: [main],
    env: { PORT: port },
    ready: /^demo-shop ready: (http:\/\/127\.0\.0\.1:(\d+))$/,
  })

it.each(['SIGTERM', 'SIGINT'] as const)('says where it listens and stops on %s', async (signal) => {
  const program = createDisposables(onTestFinished).use(await start('0'))
  const url = program.ready![1]!
  expect((await fetch(`${url}/health`)).status).toBe(200)
  expect(await program.kill(signal, 1_500)).toEqual({ code: 0, signal: null })
  await expect(fetch(url)).rejects.toThrow('fetch failed')
})

it('says so when the port is taken', async () => {
  const first = createDisposables(onTestFinished).use(await start('0'))
  await expect(start(first.ready![2]!)).rejects.toThrow(
    /code 1[^]*demo-shop cannot listen on 127\.0\.0\.1:\d+/,
  )
})
