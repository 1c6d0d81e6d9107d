import {
  connectRawWebSocket,
  createDisposables,
  requestMultipart,
  type RestAnswer,
  type RestBackend,
  startRestBackend,
} from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordFigure } from './support/figures.ts'
import { type RunningGateway, startGateway } from './support/gateway.ts'

const CANARY = 'canary-7f3a9c51'

const disposables = createDisposables(afterAll)
let backend: RestBackend

beforeAll(async () => {
  backend = disposables.use(
    await startRestBackend(({ url }): RestAnswer => {
      const body = { error: CANARY, stack: `at ${CANARY}` }
      switch (url.pathname) {
        case '/broken':
          return {
            status: 500,
            json: body,
            headers: { 'x-internal': CANARY, 'set-cookie': `session=${CANARY}` },
          }
        case '/garbage':
          return { body: `{"secret": "${CANARY}"`, headers: { 'content-type': 'application/json' } }
        default:
          return { json: { ok: true } }
      }
    }),
  )
})

describe.each(['development', 'production'])('a canary secret, %s preset', (preset) => {
  let gateway: RunningGateway
  const answers: string[] = []

  beforeAll(async () => {
    gateway = disposables.use(
      await startGateway({
        args: ['--preset', preset],
        config: {
          log: { level: 'trace', format: 'json' },
          rest: {
            api: {
              baseUrl: backend.url,
              forwardHeaders: ['authorization'],
              noRetry: true,
              endpoints: [
                { name: 'fine', path: '/fine', liveQuery: { enabled: true } },
                { name: 'broken', path: '/broken' },
                { name: 'garbage', path: '/garbage' },
                { name: 'login', method: 'POST', path: '/login', args: { password: 'String!', id: 'Int' } },
              ],
            },
          },
        },
      }),
    )
  })

  const headers = {
    authorization: `Bearer ${CANARY}`,
    cookie: `session=${CANARY}`,
    'x-api-key': CANARY,
    'x-requested-with': 'test',
  }

  it.each([
    ['in headers', '{ fine }', {}],
    ['in an upstream error', '{ broken }', {}],
    ['in an upstream body that cannot be read', '{ garbage }', {}],
    ['in a variable', 'mutation ($password: String!) { login(password: $password) }', { password: CANARY }],
    [
      'in a variable of the wrong type',
      'mutation ($id: Int) { login(password: "x", id: $id) }',
      { id: CANARY },
    ],
    ['in a variable nobody declared', '{ fine }', { token: CANARY }],
  ])('%s', async (_where, query, variables) => {
    const response = await requestMultipart(`${gateway.url}/graphql`, {
      headers: { ...headers, accept: 'application/json' },
      body: { query, variables },
    })
    answers.push(await response.text(), JSON.stringify(response.headers))
    expect(response.status).toBeLessThan(500)
  })

  it('in a WebSocket’s headers, connection_init payload and operation', async () => {
    const socket = await connectRawWebSocket(`${gateway.url}/graphql/live`, { headers })
    socket.sendJson({ type: 'connection_init', payload: { authorization: CANARY, token: CANARY } })
    await socket.nextJson()
    for (const [id, query] of [
      ['a', 'query @live { fine }'],
      ['b', 'query { broken }'],
    ]) {
      socket.sendJson({ id, type: 'subscribe', payload: { query, variables: { token: CANARY } } })
      await socket.nextJson()
    }
    await socket.close()
    expect(socket.frames.length).toBeGreaterThanOrEqual(3)
    answers.push(...socket.frames.map(({ text }) => text))
  })

  it('is nowhere: not in the log, not in an answer', async () => {
    await gateway.process.kill('SIGTERM')
    // A variable of the wrong type is told to the client who sent it, as GraphQL does: that answer alone.
    const echoed = answers.filter((text) => text.includes(CANARY) && !text.includes('got invalid value'))
    const logged = gateway.process.lines.filter((line) => line.includes(CANARY))
    recordFigure({
      area: 'secrets',
      fault: `a canary in headers, variables, connection params, upstream errors and bodies (${preset})`,
      asked: '0 occurrences in logs and client errors',
      seen: `${logged.length} in ${gateway.process.lines.length} log lines, ${echoed.length} in ${answers.length} answers`,
    })
    expect(logged).toEqual([])
    expect(echoed).toEqual([])
    expect(gateway.process.lines.length).toBeGreaterThan(5)
    expect(backend.requests.some(({ headers }) => headers.authorization === `Bearer ${CANARY}`)).toBe(true)
  })
})
