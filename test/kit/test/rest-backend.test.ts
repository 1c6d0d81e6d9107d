import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  createDisposables,
  type RestHandler,
  startRestBackend,
  startTcpServer,
  waitUntil,
} from '../src/index.ts'

async function start(handler?: RestHandler) {
  return createDisposables(onTestFinished).use(await startRestBackend(handler))
}

describe('startRestBackend', () => {
  it('records each request: raw address, headers, body, order of arrival', async () => {
    const backend = await start(({ method }) => ({ json: { method } }))
    const answer = await fetch(`${backend.url}/a%2Fb?x=%20`, { method: 'PUT', body: '{"n":1}' })
    expect(await answer.json()).toEqual({ method: 'PUT' })
    await (await fetch(`${backend.url}/second`)).text()
    const [first, second] = backend.requests
    expect(first).toMatchObject({ method: 'PUT', rawUrl: '/a%2Fb?x=%20' })
    expect(first!.json()).toEqual({ n: 1 })
    expect(second!.at).toBeGreaterThan(first!.at)
    expect(backend.connections).toBeGreaterThan(0)
  })

  it('gives scripted answers first, then asks the handler', async () => {
    const backend = await start(() => ({ json: 'handler' }))
    backend.answerNext({ status: 503, headers: { 'retry-after': '1' } }, () => ({ body: 'second' }))
    const statuses: unknown[] = []
    for (let request = 0; request < 3; request++) {
      const answer = await fetch(backend.url)
      statuses.push([answer.status, answer.headers.get('retry-after'), await answer.text()])
    }
    expect(statuses).toEqual([
      [503, '1', ''],
      [200, null, 'second'],
      [200, null, '"handler"'],
    ])
  })

  it('sees a client that goes away', async () => {
    const backend = await start(() => ({ delayMs: 60_000 }))
    const abort = new AbortController()
    const answer = fetch(backend.url, { signal: abort.signal })
    await waitUntil(() => backend.requests.length === 1)
    abort.abort()
    await expect(answer).rejects.toThrow('abort')
    await waitUntil(() => backend.requests[0]!.cancelledAt)
    expect(backend.requests[0]!.signal.aborted).toBe(true)
  })

  it('can cut an answer, stop, and restart on the same port', async () => {
    const backend = await start()
    backend.answerNext({ write: (response) => response.destroy() })
    await expect(fetch(backend.url)).rejects.toThrow('fetch failed')
    await backend.stop()
    await expect(fetch(backend.url)).rejects.toThrow('fetch failed')
    await backend.restart()
    expect((await fetch(backend.url)).status).toBe(200)
  })
})

describe('startTcpServer', () => {
  it('accepts a connection and never answers', async () => {
    const disposables = createDisposables(onTestFinished)
    const silent = disposables.use(await startTcpServer())
    const socket = connect(silent.port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\n\r\n'))
    let answered = false
    socket.on('data', () => (answered = true))
    await waitUntil(() => silent.connections === 1)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(answered).toBe(false)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    await disposables.dispose()
    await closed
  })
})
