import { connectRawWebSocket } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'
import { parseConfig } from '../src/config/file/parse-config.ts'
import type { GatewayConfig } from '../src/config/types.ts'
import { createLogger } from '../src/logging/logger.ts'
import { OWN_SCHEMA, startGateway } from './support/gateway.ts'

const APP = 'https://app.example'
const EVIL = 'https://evil.example'

async function statusOf(url: string, headers: Record<string, string>): Promise<number> {
  try {
    await using _ = await connectRawWebSocket(url, { headers })
    return 101
  } catch (error) {
    return (error as { readonly statusCode: number }).statusCode
  }
}

describe('pages that open a socket', () => {
  it.each([
    'app.example',
    'https://app.example/',
    'https://app.example/page',
    'https://APP.example',
    '/(/',
    '',
  ])('are not listed as %j', (origin) => {
    const liveQuery = { allowedOrigins: [APP, origin] }
    expect(() => parseConfig({ liveQuery })).toThrow(
      /^liveQuery\.allowedOrigins\[1\]: expected "\*", an origin/,
    )
  })

  it.each<[string, Partial<GatewayConfig>, Record<string, number>]>([
    ['by default: the gateway’s own', {}, { own: 101, [APP]: 403, [EVIL]: 403, null: 403 }],
    [
      'with live queries off',
      { liveQuery: false, graphql: { cors: [APP] } },
      { own: 101, [APP]: 101, [EVIL]: 403 },
    ],
    ['what CORS lists', { graphql: { cors: [APP] } }, { own: 101, [APP]: 101, [EVIL]: 403, null: 403 }],
    [
      'what patterns of CORS fit',
      { graphql: { cors: { origins: ['/https://a[a-z]+\\.example/'] } } },
      { own: 101, [APP]: 101, [EVIL]: 403, [`${APP}.evil`]: 403, null: 403 },
    ],
    [
      'what liveQuery lists instead',
      { graphql: { cors: [APP] }, liveQuery: { allowedOrigins: [EVIL] } },
      { own: 101, [APP]: 403, [EVIL]: 101 },
    ],
    ['any, where CORS says so', { graphql: { cors: ['*'] } }, { own: 101, [APP]: 101, [EVIL]: 101 }],
    [
      'what patterns of liveQuery fit',
      { liveQuery: { allowedOrigins: ['/https://a[a-z]+\\.example/', /https:\/\/b\.example/] } },
      { own: 101, [APP]: 101, [EVIL]: 403, 'https://b.example': 101, 'https://b.example.evil': 403 },
    ],
  ])('%s', async (_, config, expected) => {
    for (const preset of ['development', 'production'] as const) {
      const { server, endpoint } = await startGateway({ ...OWN_SCHEMA, ...config, preset })
      for (const path of ['', '/live']) {
        const url = endpoint.replace('http', 'ws') + path
        expect(await statusOf(url, {})).toBe(101)
        for (const [name, status] of Object.entries(expected)) {
          const origin = name === 'own' ? server.url : name
          expect([path, name, await statusOf(url, { origin })]).toEqual([path, name, status])
        }
      }
    }
  })

  it('the log names the settings that let a page in', async () => {
    const lines: {
      readonly level: number
      readonly msg: string
      readonly err: { readonly message: string }
    }[] = []
    const write = (line: string): void => void lines.push(JSON.parse(line))
    const logger = await createLogger({ level: 'warn', destination: { write } })
    const { endpoint } = await startGateway(OWN_SCHEMA, { logger })
    expect(await statusOf(endpoint.replace('http', 'ws'), { origin: 'http://localhost:5173' })).toBe(403)
    expect(lines).toMatchObject([
      {
        level: 40,
        msg: 'WebSocket refused because its origin is not allowed; add the origin to liveQuery.allowedOrigins, or to graphql.cors if liveQuery.allowedOrigins is not set',
        err: {
          message: expect.stringContaining('A WebSocket of the origin http://localhost:5173 was refused'),
        },
      },
    ])
  })

  it('no cookies of a page that only `*` lists, and no figures of the status page for another site', async () => {
    const { server, endpoint } = await startGateway({ ...OWN_SCHEMA, graphql: { cors: ['*'] } })
    const socket = endpoint.replace('http', 'ws')
    expect(await statusOf(socket, { origin: EVIL, cookie: 'session=1' })).toBe(403)
    const figures = await fetch(`${server.url}/status/live`, { headers: { origin: EVIL } })
    expect(figures.status).toBe(403)
  })
})
