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
    "JSON requests take Yoga's slower HTTP path: a plugin uses instrumentation.request",
  )
})
