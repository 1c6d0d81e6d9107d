import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import pino from 'pino'
import { expect, it } from 'vitest'
import type { GatewayConfig } from '../src/config/types.ts'
import { OWN_SCHEMA, startGateway } from './support/gateway.ts'

/** What a gateway with everything on says at its start. */
async function startupLog(config: GatewayConfig): Promise<string> {
  let written = ''
  const logger = pino({ level: 'info' }, { write: (line: string) => (written += line) })
  await startGateway({ ...OWN_SCHEMA, ...config }, { logger })
  return written
}

const everything: GatewayConfig = {
  responseCache: true,
  liveQuery: {},
  invalidate: { secret: 'a secret of at least sixteen characters' },
}

it.each(['development', 'production'] as const)(
  'serves JSON requests through the fast path with every plugin on (%s)',
  async (preset) => {
    expect(await startupLog({ ...everything, preset })).not.toContain('slower HTTP path')
  },
)

it('says so when a plugin needs the other path', async () => {
  const plugin = { instrumentation: { request: (_payload: unknown, wrapped: () => unknown) => wrapped() } }
  expect(await startupLog({ ...everything, plugins: [plugin as never] })).toContain(
    "Requests use Yoga's slower HTTP path: a plugin uses instrumentation.request",
  )
})

it.each([
  ['an answer', '{ hello }', 200],
  ['a document that is not valid', '{ nothing }', 400],
  ['a document that cannot be read', '{ nothing', 400],
])('gives one part under one content type to clients that take no JSON: %s', async (_what, query, status) => {
  const { endpoint } = await startGateway({ ...OWN_SCHEMA, defer: {} })
  const headers = { 'content-type': 'application/json', accept: 'multipart/mixed' }
  const asked = request(endpoint, { method: 'POST', headers }).end(JSON.stringify({ query }))
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  answer.resume()
  const types = answer.rawHeaders.filter(
    (_value, at) => answer.rawHeaders[at - 1]?.toLowerCase() === 'content-type',
  )
  expect([answer.statusCode, types]).toEqual([status, ['multipart/mixed; boundary="-"']])
})
