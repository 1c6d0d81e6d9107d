import { createDisposables, waitUntil } from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DemoBackend, type RunningDemo, startDemo } from './support/demo.ts'

const disposables = createDisposables(afterAll)
let demo: RunningDemo

beforeAll(async () => {
  demo = disposables.use(await startDemo())
})

// A name of its own for each request, so that no answer comes from a cache.
let round = 0
const ask = () =>
  demo.query(`query Q${round++} { users(limit: 1) { totalCount } getProduct(id: "1") { id } }`)

const whole = { data: { users: { totalCount: 100 }, getProduct: { id: '1' } }, errors: [] }

describe('a backend that stops', () => {
  it.each([
    ['gRPC', (): DemoBackend => demo.users, 'users', { users: null, getProduct: { id: '1' } }],
    ['REST', (): DemoBackend => demo.shop, 'getProduct', { users: { totalCount: 100 }, getProduct: null }],
  ])(
    '%s: a partial result with SERVICE_UNAVAILABLE; healed within a second of its start',
    { retry: 2 },
    async (...row) => {
      const [kind, backendOf, field, data] = row
      expect(await ask()).toMatchObject(whole)
      await backendOf().kill()
      for (let request = 0; request < 3; request++) {
        const partial = await ask()
        expect(partial).toMatchObject({ status: 200, data })
        expect(partial.errors).toMatchObject([{ path: [field], extensions: { code: 'SERVICE_UNAVAILABLE' } }])
        expect(JSON.stringify(partial.errors)).not.toContain(backendOf().address)
      }
      expect(demo.gateway.isRunning()).toBe(true)

      await backendOf().restart()
      const startedAt = performance.now()
      await waitUntil(async () => (await ask()).errors.length === 0, { awaited: 'a whole answer' })
      const healedAfter = performance.now() - startedAt
      process.stdout.write(`${kind}: healed ${Math.round(healedAfter)} ms after its start\n`)
      expect(await ask()).toMatchObject(whole)
      expect(healedAfter).toBeLessThan(1_000)
    },
  )

  it('neither readiness nor liveness follows, as the backend is not required', async () => {
    const statuses = async () => [
      (await fetch(`${demo.url}/health/live`)).status,
      (await fetch(`${demo.url}/health/ready`)).status,
    ]
    expect(await statuses()).toEqual([200, 200])
    await demo.users.kill()
    await waitUntil(async () => (await ask()).errors.length > 0, { awaited: 'an error' })
    expect(await statuses()).toEqual([200, 200])
    await demo.users.restart()
  })
})
