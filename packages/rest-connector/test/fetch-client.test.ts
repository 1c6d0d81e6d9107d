import { gzipSync } from 'node:zlib'
import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import { afterAll, expect, it, onTestFinished, vi } from 'vitest'
import { createRestConnector } from '../src/index.ts'

// Files may share their modules: this one wants its own, and leaves none of them behind.
vi.hoisted(() => void vi.resetModules())
afterAll(() => void vi.resetModules())

// Where no `node` condition holds, the connector sends by the platform's fetch: what is said of one client holds of both.
vi.mock('#http-client', () => import('../src/http/client/fetch-client.ts'))

await import('./bodies.test.ts')
await import('./cancellation.test.ts')

it.each([
  ['gzip', gzipSync('{"id":"1"}'), { id: '1' }],
  ['compress', Buffer.from('{"id":"1"}'), 'REST_BAD_RESPONSE'],
  ['gzip', gzipSync(Buffer.alloc(10_000)), 'REST_RESPONSE_TOO_LARGE'],
])('a body in %s is decoded once, refused, or bounded', async (encoding, body, expected) => {
  const cleanup = createDisposables(onTestFinished)
  const headers = { 'content-type': 'application/json', 'content-encoding': encoding }
  const backend = cleanup.use(await startRestBackend(() => ({ headers, body })))
  const endpoints = [{ name: 'get', path: '/' }]
  const options = { baseUrl: backend.url, endpoints, maxResponseBytes: 1_000, exposeErrors: true }
  const connector = cleanup.use(createRestConnector('api', options))
  const answer = await connector.execute('get').catch(({ extensions }) => extensions.code)
  expect(answer).toEqual(expected)
})

it('a file that cannot be read to its end is no fault of the upstream', async () => {
  const cleanup = createDisposables(onTestFinished)
  const backend = cleanup.use(await startRestBackend())
  const endpoint = {
    name: 'put',
    method: 'PUT' as const,
    path: '/',
    args: { input: 'Upload' },
    body: { contentType: 'image/png' },
  }
  const connector = cleanup.use(createRestConnector('api', { baseUrl: backend.url, endpoints: [endpoint] }))
  const input = {
    isOnce: true,
    async *stream() {
      yield Buffer.from('begun')
      throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
    },
  }
  const answer = await connector.execute('put', { input }).catch(({ extensions }) => extensions.code)
  expect(answer).toBe('BAD_USER_INPUT')
})
