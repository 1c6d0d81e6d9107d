import { setTimeout as sleep } from 'node:timers/promises'
import { AUDIENCE, createDisposables, startIssuer, startRestBackend } from '@vinyasa/test-kit'
import { afterAll, expect, it } from 'vitest'
import { ms, recordFigure } from './support/figures.ts'
import { startGateway } from './support/gateway.ts'
import { besideNeighbours, NEIGHBOURS_TIMEOUT_MS } from './support/neighbours.ts'

const disposables = createDisposables(afterAll)
const QUERY = '{ item { name } }'
/** For so long keys that were just asked for are believed to be all there are. */
const FRESH_MS = 30_000
/** A key server is given five seconds, and a busy machine some more. */
const PATIENCE_MS = 8_000

it(
  'a key server that hangs while strangers come with keys that nobody knows',
  async () => {
    const issuer = disposables.use(await startIssuer())
    const rest = disposables.use(await startRestBackend(() => ({ json: { name: 'Ada' } })))
    const gateway = disposables.use(
      await startGateway({
        args: ['--preset', 'production'],
        config: {
          auth: { jwt: { issuers: [{ issuer: issuer.url, audience: AUDIENCE }], required: true } },
          rest: {
            api: {
              baseUrl: rest.url,
              endpoints: [
                {
                  name: 'item',
                  path: '/item',
                  responseSchema: { typeName: 'Item', fields: { name: 'string' } },
                },
              ],
            },
          },
        },
      }),
    )
    const startedAt = performance.now()
    const known = { authorization: `Bearer ${issuer.token()}` }
    const answers = new Map<string, number>()
    let slowest = 0
    let strangers = 0
    let asked = 0
    let since = 0

    async function stranger(): Promise<void> {
      const from = performance.now()
      const response = await fetch(`${gateway.url}/graphql`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${issuer.token({ kid: `stranger-${strangers++}` })}`,
        },
        body: JSON.stringify({ query: QUERY }),
      })
      const { errors } = (await response.json()) as any
      const told = response.headers.has('retry-after') ? 'with' : 'without'
      const seen = `${response.status} ${errors?.[0]?.extensions?.code} ${told} Retry-After`
      answers.set(seen, (answers.get(seen) ?? 0) + 1)
      slowest = Math.max(slowest, performance.now() - from)
    }

    await besideNeighbours(
      {
        pid: gateway.process.pid,
        async ask() {
          const { data } = await gateway.query(QUERY, {}, known)
          return data?.item?.name === 'Ada'
        },
      },
      {
        area: 'keys',
        fault: 'a key server that hangs, 20 strangers at a time with unknown keys',
        async prepare() {
          await sleep(Math.max(0, startedAt + FRESH_MS + 5_000 - performance.now()))
          if (since > 0) return
          issuer.behave('hang')
          asked = issuer.asked
          since = performance.now()
        },
        async run(signal) {
          const again = async (): Promise<void> => {
            while (!signal.aborted) {
              await stranger()
              await sleep(100)
            }
          }
          await Promise.all(Array.from({ length: 20 }, again))
        },
      },
    )
    recordFigure({
      area: 'keys',
      fault: 'the strangers',
      asked: `503, SERVICE_UNAVAILABLE with Retry-After, within ${ms(PATIENCE_MS)}; one question in 30 s`,
      seen: `${JSON.stringify(Object.fromEntries(answers))}, slowest ${ms(slowest)}, ${issuer.asked - asked} questions`,
    })
    expect([...answers.keys()]).toEqual(['503 SERVICE_UNAVAILABLE with Retry-After'])
    expect(slowest).toBeLessThan(PATIENCE_MS)
    const most = 1 + Math.floor((performance.now() - since) / FRESH_MS)
    expect(issuer.asked - asked).toBeLessThanOrEqual(most)
  },
  NEIGHBOURS_TIMEOUT_MS,
)
