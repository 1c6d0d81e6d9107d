import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { connectRawWebSocket, createDisposables, UpgradeRefused, waitUntil } from '../src/index.ts'

async function startServer(serve: (socket: WebSocket) => void) {
  const disposables = createDisposables(onTestFinished)
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  disposables.use(() => new Promise((resolve) => server.close(resolve)))
  server.on('connection', serve)
  await new Promise((resolve) => server.once('listening', resolve))
  return { disposables, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/x` }
}

describe('connectRawWebSocket', () => {
  it('shows frames in order, text and binary, and takes them one by one', async () => {
    const { disposables, url } = await startServer((socket) => {
      socket.on('message', (data, binary) => socket.send(data, { binary }))
    })
    const client = disposables.use(await connectRawWebSocket(url))
    expect(client.protocol).toBe('graphql-transport-ws')
    client.sendJson({ type: 'one' })
    client.send('{"type":"two"}')
    client.send(Buffer.from([1, 2, 3]))
    expect(await client.takeJson(2)).toEqual([{ type: 'one' }, { type: 'two' }])
    const binary = await client.next()
    expect([binary.binary, [...binary.bytes]]).toEqual([true, [1, 2, 3]])
    expect(client.frames.length).toBe(3)
    await client.silence(30)
    await expect(client.next(20)).rejects.toThrow('No frame within 20 ms')
  })

  it('tells the close code and reason, also to a waiting taker', async () => {
    const { disposables, url } = await startServer((socket) => {
      socket.on('message', () => socket.close(4400, 'bad message'))
    })
    const client = disposables.use(await connectRawWebSocket(url))
    const taker = client.next()
    client.send('x')
    await expect(taker).rejects.toThrow('4400 bad message')
    expect(await client.nextClose()).toEqual({ code: 4400, reason: 'bad message' })
  })

  it('fails silence when a frame comes', async () => {
    const { disposables, url } = await startServer((socket) => socket.send('hello'))
    const client = disposables.use(await connectRawWebSocket(url))
    await expect(client.silence(1_000)).rejects.toThrow('the server sent hello')
  })

  it('can stop reading, so that the server sees its bytes pile up', async () => {
    let ofServer: WebSocket | undefined
    const { disposables, url } = await startServer((socket) => {
      ofServer = socket
    })
    const client = disposables.use(await connectRawWebSocket(url))
    client.pause()
    const payload = 'x'.repeat(1_000_000)
    for (let sent = 0; sent < 20; sent++) ofServer?.send(payload)
    await waitUntil(() => (ofServer?.bufferedAmount ?? 0) > 1_000_000)
    expect(client.frames.length).toBeLessThan(20)
    client.resume()
    await waitUntil(() => client.frames.length === 20)
  })

  it('tells the HTTP status of a refused upgrade', async () => {
    const disposables = createDisposables(onTestFinished)
    const server = disposables.use(createServer())
    server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const refused = connectRawWebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
    await expect(refused).rejects.toBeInstanceOf(UpgradeRefused)
    await expect(refused).rejects.toMatchObject({ statusCode: 403 })
  })
})
