import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { createRestConnector, type RestConnectorOptions } from '../src/index.ts'

/** 700 kB of JSON. 64 of them are more than a connector reads at once. */
const itemsOf = (id: string): string[] =>
  Array.from({ length: 700 }, (_, item) => `${id}-${item}`.padEnd(1_000))

async function connect(
  answer: (response: ServerResponse, how: string, body: string) => void,
  options: Partial<RestConnectorOptions> = {},
) {
  const server = createServer(({ url = '' }, response) => {
    const [, how = '', id = ''] = url.split('/')
    answer(response, how, JSON.stringify(itemsOf(id)))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const connector = createRestConnector('long', {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    endpoints: [{ name: 'list', path: '/{how}/{id}', args: { how: 'String!', id: 'ID!' } }],
    noRetry: true,
    ...options,
  })
  onTestFinished(async () => {
    await connector.close()
    server.closeAllConnections()
    server.close()
  })
  return (how: string, id: number) => connector.execute('list', { how, id: String(id) })
}

it('long responses that wait for each other are what was sent, in whatever form', async () => {
  const list = await connect((response, how, body) => {
    response.setHeader('content-type', 'application/json')
    if (how === 'elsewhere') {
      response.writeHead(302, { location: '/whole/moved' }).end(body)
    } else if (how === 'zipped') {
      response.setHeader('content-encoding', 'gzip')
      response.end(gzipSync(body, { level: 0 }))
    } else if (how === 'pieces') {
      response.write(body.slice(0, 300_000))
      response.end(body.slice(300_000))
    } else response.end(body)
  })
  const forms = ['whole', 'pieces', 'zipped', 'elsewhere']
  const asked = Array.from({ length: 64 }, (_, id) => ({ id, how: forms[id % 4] as string }))
  const answers = await Promise.all(asked.map(({ how, id }) => list(how, id)))
  for (const [index, { how, id }] of asked.entries())
    expect(answers[index]).toEqual(itemsOf(how === 'elsewhere' ? 'moved' : String(id)))
})

it('one that stops half way is waited for as long as its timeout, and not by short ones', async () => {
  const list = await connect(
    (response, how, body) => {
      response.setHeader('content-type', 'application/json')
      if (how === 'short') response.end('[]')
      else if (how === 'half') {
        response.setHeader('content-length', body.length)
        response.write(body.slice(0, 300_000))
      } else response.end(body)
    },
    { timeoutMs: 3_000 },
  )
  const half = list('half', 1)
  // Waits for the first, and ends while it does.
  const behind = list('half', 5)
  behind.catch(() => {})
  let isOver = false
  half.catch(() => (isOver = true))
  await list('short', 2)
  expect(isOver).toBe(false)
  for (const one of [half, behind])
    await expect(one).rejects.toMatchObject({ extensions: { code: 'TIMEOUT' } })
  expect(await Promise.all([list('whole', 3), list('whole', 4)])).toEqual([itemsOf('3'), itemsOf('4')])
})

it('long responses of one upstream do not wait for another upstream that stops half way', async () => {
  const sendHalf = (response: ServerResponse): void => {
    response.setHeader('content-type', 'application/json')
    response.setHeader('content-length', 40_000_000)
    response.write(Buffer.alloc(9_000_000, ' '))
  }
  const stalled = await connect(sendHalf, { timeoutMs: 20_000, maxResponseBytes: 50_000_000 })
  for (let id = 0; id < 4; id++) stalled('half', id).catch(() => {})
  await new Promise((resolve) => setTimeout(resolve, 300))
  const list = await connect(
    (response, how, body) => {
      response.setHeader('content-type', 'application/json')
      if (how === 'zipped') response.setHeader('content-encoding', 'gzip')
      response.end(how === 'zipped' ? gzipSync(body) : body)
    },
    { timeoutMs: 10_000 },
  )
  const ids = [...Array.from({ length: 20 }).keys()]
  const answers = await Promise.all(ids.map((id) => list(id % 2 ? 'zipped' : 'whole', id)))
  expect(answers).toEqual(ids.map((id) => itemsOf(String(id))))
})
