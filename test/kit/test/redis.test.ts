import { connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createDisposables, describeWithRedis, startRedis, withTimeout } from '../src/index.ts'

/** One inline command and its one-line reply. */
function ask(port: number, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${command}\r\n`))
    socket.once('data', (data) => {
      resolve(data.toString().trim())
      socket.destroy()
    })
    socket.once('error', reject)
  })
}

describeWithRedis('startRedis', () => {
  it('starts an empty server of its own and ends it on disposal', async () => {
    const disposables = createDisposables(onTestFinished)
    const [one, two] = await Promise.all([startRedis(), startRedis()])
    disposables.use(one)
    disposables.use(two)
    expect(await ask(one.port, 'SET a 1')).toBe('+OK')
    expect(await ask(one.port, 'EXISTS a')).toBe(':1')
    expect(await ask(two.port, 'EXISTS a')).toBe(':0')
    await disposables.dispose()
    await expect(ask(one.port, 'PING')).rejects.toThrow('ECONNREFUSED')
  })

  it('can be frozen, killed and restarted on the same port', async () => {
    const redis = createDisposables(onTestFinished).use(await startRedis())
    redis.stop()
    await expect(withTimeout(ask(redis.port, 'PING'), 200, 'answer')).rejects.toThrow(
      'No answer within 200 ms',
    )
    redis.cont()
    expect(await ask(redis.port, 'PING')).toBe('+PONG')
    await ask(redis.port, 'SET a 1')
    await redis.kill()
    await expect(ask(redis.port, 'PING')).rejects.toThrow('ECONNREFUSED')
    await redis.restart()
    expect(await ask(redis.port, 'EXISTS a')).toBe(':0')
  })
})
