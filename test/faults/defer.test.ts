import { createDisposables, requestMultipart, startRestBackend } from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { timeUnder } from './support/attempts.ts'
import { ms, recordFigure } from './support/figures.ts'
import { type RunningGateway, startGateway } from './support/gateway.ts'

const FRAGMENT_TIMEOUT_MS = 400

const disposables = createDisposables(afterAll)
let gateway: RunningGateway

beforeAll(async () => {
  const backend = disposables.use(
    await startRestBackend(({ url }) => ({
      delayMs: url.pathname === '/slow' ? 30_000 : 0,
      json: { id: '1', text: 'x' },
    })),
  )
  const responseSchema = { typeName: 'Thing', fields: { id: 'id!', text: 'string', thing: 'Thing' } }
  gateway = disposables.use(
    await startGateway({
      config: {
        defer: { maxDeferredFragments: 16, fragmentTimeoutMs: FRAGMENT_TIMEOUT_MS },
        rest: {
          api: {
            baseUrl: backend.url,
            endpoints: [
              { name: 'thing', path: '/thing', responseSchema },
              { name: 'slow', path: '/slow', responseSchema },
            ],
          },
        },
      },
    }),
  )
})

describe('too many deferred fragments', () => {
  it.each([
    [
      '17 fragments',
      `{ thing { id } ${Array.from({ length: 17 }, (_, n) => `... @defer(label: "d${n}") { a${n}: thing { text } }`).join(' ')} }`,
    ],
    ['100 nested', `{ thing { ${'... @defer { id thing { '.repeat(100)} id ${'} }'.repeat(100)} } }`],
  ])('%s: 400', async (fault, query) => {
    const response = await requestMultipart(`${gateway.url}/graphql`, { body: { query } })
    const [{ errors }] = (await response.allParts()).map((part) => part.json())
    const code = errors[0].extensions.code
    recordFigure({ area: 'defer', fault, asked: '400', seen: `${response.status} ${code}` })
    expect(response.status).toBe(400)
    expect(['DEFER_TOO_MANY_FRAGMENTS', 'DOCUMENT_LIMIT_EXCEEDED']).toContain(code)
  })

  it('16 fragments are served', async () => {
    const fragments = Array.from({ length: 16 }, (_, n) => `... @defer { a${n}: thing { text } }`)
    const response = await requestMultipart(`${gateway.url}/graphql`, {
      body: { query: `{ thing { id } ${fragments.join(' ')} }` },
    })
    await response.allParts()
    expect([response.status, (await response.ended).complete]).toEqual([200, true])
  })
})

it('a fragment that hangs: its patch is a timeout error, the others arrive, the delimiter is closed', async () => {
  const bound = FRAGMENT_TIMEOUT_MS + 2_000
  const took = await timeUnder(bound, async () => {
    const at = performance.now()
    const response = await requestMultipart(`${gateway.url}/graphql`, {
      body: {
        query:
          '{ thing { id } ... @defer(label: "hangs") { slow { id } } ... @defer(label: "quick") { other: thing { text } } }',
      },
    })
    const parts = (await response.allParts()).map((part) => part.json())
    const patches = parts.flatMap(({ incremental = [] }) => incremental)
    expect(patches.find(({ label }) => label === 'hangs')).toMatchObject({
      data: null,
      errors: [{ extensions: { code: 'DEFER_FRAGMENT_TIMEOUT' } }],
    })
    expect(patches.find(({ label }) => label === 'quick')).toMatchObject({ data: { other: { text: 'x' } } })
    expect([(await response.ended).complete, parts.at(-1).hasNext]).toEqual([true, false])
    return performance.now() - at
  })
  recordFigure({
    area: 'defer',
    fault: `a fragment that hangs, fragment timeout ${FRAGMENT_TIMEOUT_MS} ms`,
    asked: 'timeout patch, delimiter closed',
    seen: `DEFER_FRAGMENT_TIMEOUT, closed after ${ms(took)}`,
  })
  expect(took).toBeLessThan(bound)
})
