import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { createRestConnector } from '../src/index.ts'

const LONG = [2 ** 31, 2 ** 31 + 1, 2 ** 32, Number.MAX_SAFE_INTEGER]

it.each(
  LONG.flatMap((ms) => [
    [`a timeout of ${ms} ms`, { timeoutMs: ms }, {}],
    [`a total timeout of ${ms} ms`, { totalTimeoutMs: ms }, {}],
    [`a timeout of ${ms} ms for the endpoint`, {}, { timeoutMs: ms }],
  ]),
)('%s does not end a call at once', async (_, options, endpoint) => {
  const cleanup = createDisposables(onTestFinished)
  // The total is counted from the second attempt on.
  const statuses = [503]
  const backend = cleanup.use(
    await startRestBackend(() => ({ delayMs: 30, json: 'x', status: statuses.shift() ?? 200 })),
  )
  const connector = cleanup.use(
    createRestConnector('r', {
      baseUrl: backend.url,
      endpoints: [{ name: 'get', path: '/get', ...endpoint }],
      random: () => 0,
      ...options,
    }),
  )
  expect(await connector.execute('get')).toBe('x')
})
