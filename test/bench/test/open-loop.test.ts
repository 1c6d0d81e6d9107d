import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { sendOpenLoop } from '../src/open-loop.ts'

const servers: Server[] = []

async function serve(answer: (body: string, respond: (status: number) => void) => void): Promise<string> {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    answer(body, (status) => response.writeHead(status, { 'content-length': 2 }).end('{}'))
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

const request = { path: '/graphql', body: '{"n":{n}}', numbers: 3 }

describe('load at a steady rate', () => {
  it('sends as many as were asked for, with numbers that begin anew', async () => {
    const bodies: string[] = []
    const url = await serve((body, respond) => {
      bodies.push(body)
      respond(200)
    })
    const result = await sendOpenLoop(url, request, { requestsPerSecond: 100, seconds: 0.1, connections: 2 })
    expect(result).toMatchObject({ requests: 10, errors: 0 })
    expect(bodies.slice(0, 4)).toStrictEqual(['{"n":1}', '{"n":2}', '{"n":3}', '{"n":1}'])
  })

  it('counts the wait of requests that were due while the server stood still', async () => {
    let isFirst = true
    const url = await serve((_body, respond) => {
      if (!isFirst) return respond(200)
      isFirst = false
      setTimeout(() => respond(200), 200)
    })
    const options = { requestsPerSecond: 100, seconds: 0.3, connections: 1 }
    const { requests, p50Ms, maxMs } = await sendOpenLoop(url, request, options)
    expect(requests).toBe(30)
    // Nineteen more were due in those 200 ms: a client that waits for answers would have seen one slow answer of thirty.
    expect(p50Ms / maxMs).toBeGreaterThan(0.1)
  })

  it('counts answers that are not 200, and fails where none comes', async () => {
    const options = { requestsPerSecond: 100, seconds: 0.05, connections: 1, graceMs: 100 }
    const refusing = await serve((_body, respond) => respond(500))
    expect(await sendOpenLoop(refusing, request, options)).toMatchObject({ requests: 5, errors: 5 })
    const silent = await serve(() => {})
    await expect(sendOpenLoop(silent, request, options)).rejects.toThrow('never answered')
  })
})
