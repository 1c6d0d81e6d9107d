import { connectRawWebSocket } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'
import { createGateway } from '../src/gateway.ts'
import type { GatewayConfig } from '../src/config/types.ts'
import { createLogger } from '../src/logging/logger.ts'
import { OWN_SCHEMA, post, startGateway } from './support/gateway.ts'

describe('paths', () => {
  it.each(['/', '/api/v1/graphql', '/graphql/'])('GraphQL is at %s, and nowhere else', async (path) => {
    const { server, gateway } = await startGateway({ ...OWN_SCHEMA, graphql: { path } })
    const below = path.replace(/\/$/, '')
    expect(gateway.endpoint).toBe(path)
    const answer = await post(`${server.url}${path}`, { query: '{ hello }' })
    expect(await answer.json()).toEqual({ data: { hello: 'world' } })
    const deferred = await post(
      `${server.url}${below}/defer`,
      { query: '{ ... @defer { hello } }' },
      { accept: 'multipart/mixed' },
    )
    expect(deferred.headers.get('content-type')).toMatch(/^multipart\/mixed/)
    expect(await deferred.text()).toContain('world')
    for (const socket of [path, `${below}/live`]) {
      await using live = await connectRawWebSocket(`${server.url.replace('http', 'ws')}${socket}`, {
        protocol: 'graphql-transport-ws',
      })
      expect(live).toBeDefined()
    }
    const elsewhere = path === '/' ? '/other' : '/graphqlx'
    expect((await post(`${server.url}${elsewhere}`, { query: '{ hello }' })).status).toBe(404)
    expect(await (await fetch(`${server.url}/metrics`)).text()).toContain(`path="${path}",status="200"`)
  })

  it('probes are where the config says, and are answered when the gateway is full', async () => {
    const { server } = await startGateway(
      { ...OWN_SCHEMA, server: { livenessPath: '/livez', readinessPath: '/readyz' } },
      { maxInFlight: 1 },
    )
    const status = async (path: string): Promise<number> => (await fetch(server.url + path)).status
    for (const path of ['/livez', '/readyz', '/livez?verbose', '/readyz?verbose', '/livez?a=/readyz'])
      expect([path, await status(path)]).toEqual([path, 200])
    for (const path of [
      '/health/live',
      '/health/ready',
      '/health',
      '/other/livez',
      '/other?a=/livez',
      '/livez/',
    ])
      expect([path, await status(path)]).toEqual([path, 404])
    const answer = await post(`${server.url}/graphql?from=/livez`, { query: '{ hello }' })
    expect(await answer.json()).toEqual({ data: { hello: 'world' } })
  })

  it.each<[GatewayConfig, string]>([
    [{ graphql: { path: '/metrics' } }, 'metrics: /metrics is already used by graphql.path'],
    [
      { server: { readinessPath: '/graphql/live' } },
      'server.readinessPath: /graphql/live is already used by graphql.path, for live queries',
    ],
    [
      { server: { livenessPath: '/up', readinessPath: '/up' } },
      'server.readinessPath: /up is already used by server.livenessPath',
    ],
  ])('two things at one path are refused: %j', async (config, message) => {
    const logger = await createLogger({ level: 'silent' })
    const made = createGateway({ ...OWN_SCHEMA, ...config }, { baseDirectory: '/', logger })
    await expect(made).rejects.toThrow(message)
  })
})
