import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { credentials } from '@grpc/grpc-js'
import { createDisposables, spawnProcess } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { UserServiceClient } from '../src/gen/demo/users/v1/users.ts'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const start = (port: string) =>
  spawnProcess({
    command: process.execPath,
    args: [main],
    env: { PORT: port },
    ready: /^demo-users ready: grpc:\/\/127\.0\.0\.1:(\d+)$/,
  })

it.each(['SIGTERM', 'SIGINT'] as const)(
  'says where it listens and stops on %s, streams open or not',
  async (signal) => {
    const disposables = createDisposables(onTestFinished)
    const program = disposables.use(await start('0'))
    const port = Number(program.ready![1])
    const client = disposables.use(new UserServiceClient(`127.0.0.1:${port}`, credentials.createInsecure()))
    const watching = client.watchUsers({})
    const ended = new Promise<unknown>((resolve) => watching.on('error', resolve).resume())
    await new Promise((resolve) => client.getOnlineCount({}, resolve))
    expect(await program.kill(signal, 1_500)).toEqual({ code: 0, signal: null })
    expect(await ended).toMatchObject({ code: 14 })
    const refused = new Promise((resolve) => connect(port, '127.0.0.1').once('error', resolve))
    expect(await refused).toMatchObject({ code: 'ECONNREFUSED' })
  },
)

it('says so when the port is taken', async () => {
  const first = createDisposables(onTestFinished).use(await start('0'))
  await expect(start(first.ready![1]!)).rejects.toThrow(
    /code 1[^]*demo-users cannot listen on 127\.0\.0\.1:\d+/,
  )
})
