import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listen } from '../src/connections/listen.ts'

const HOST = '127.0.0.1'
const COUNT = 320

// Before Node 22.12 no socket of a process shares a port.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const sharesPorts = process.platform === 'linux' && (major > 22 || (major === 22 && minor >= 12))

describe.runIf(sharesPorts)('connections that came while the event loop was busy', () => {
  it('are taken many a turn, and served as those of the HTTP server', async () => {
    const server = createServer((_, response) => response.end('here'))
    const listening = await listen(server, 0, HOST)
    const taken = new Set<Socket>()
    server.on('connection', (socket) => taken.add(socket))
    const sockets = Array.from({ length: COUNT }, () => connect(listening.port, HOST))
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()))
    let turns = 0
    for (; taken.size < COUNT; turns++) await setImmediate()
    expect(turns).toBeLessThan(COUNT / 3)
    await Promise.all(sockets.map(askOn))
    for (const socket of sockets) socket.destroy()
    await listening.close()
  })

  it('are closed with the server', async () => {
    const server = createServer((_, response) => response.end('here'))
    const listening = await listen(server, 0, HOST)
    const sockets = Array.from({ length: 50 }, () => connect(listening.port, HOST))
    await Promise.all(sockets.map(askOn))
    await listening.close()
    await expect(fetch(`http://${HOST}:${listening.port}`)).rejects.toThrow('fetch failed')
  })
})

it('a port that listens already is taken, whichever way it does', async () => {
  const first = await listen(createServer(), 0, HOST)
  onTestFinished(() => first.close())
  await expect(listen(createServer(), first.port, HOST)).rejects.toThrow(
    `server.port: ${first.port} is already in use on ${HOST}`,
  )
})

async function askOn(socket: Socket): Promise<void> {
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  let text = ''
  for await (const part of socket.setEncoding('utf8')) text += part
  expect(text).toContain('here')
}
