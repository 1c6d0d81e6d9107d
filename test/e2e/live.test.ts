import { connectRawWebSocket, createDisposables } from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type RunningDemo, startDemo } from './support/demo.ts'

const disposables = createDisposables(afterAll)
let demo: RunningDemo

beforeAll(async () => {
  demo = disposables.use(await startDemo())
})

async function connect(path = '/graphql/live') {
  const socket = createDisposables(onTestFinished).use(await connectRawWebSocket(demo.url + path))
  socket.sendJson({ type: 'connection_init' })
  expect(await socket.nextJson()).toEqual({ type: 'connection_ack' })
  return socket
}

describe('live queries over WebSocket', () => {
  it.each(['/graphql/live', '/graphql'])('%s: the whole new result after a gRPC mutation', async (path) => {
    const socket = await connect(path)
    const id = path === '/graphql' ? '21' : '22'
    const query = `query @live { user(id: "${id}") { id name } }`
    socket.sendJson({ id: 'a', type: 'subscribe', payload: { query } })
    const first = await socket.nextJson()
    expect(first).toMatchObject({
      id: 'a',
      type: 'next',
      payload: { data: { user: { id } }, is_initial: true, revision: 1 },
    })

    const mutation = await demo.query(`mutation { updateUser(id: "${id}", name: "Live") { name } }`)
    expect(mutation.errors).toEqual([])
    expect(await socket.nextJson()).toMatchObject({
      id: 'a',
      type: 'next',
      payload: {
        data: { user: { id, name: 'Live' } },
        is_initial: false,
        revision: 2,
        changed_fields: ['user.name'],
      },
    })
    socket.sendJson({ id: 'a', type: 'complete' })
    await demo.query(`mutation { updateUser(id: "${id}", name: "Unseen") { name } }`)
    await socket.silence(400)
  })

  it('arguments filter: a user who goes offline leaves the list', async () => {
    const socket = await connect()
    const query = 'query @live { users(status: ONLINE) { totalCount users { id } } }'
    socket.sendJson({ id: 'a', type: 'subscribe', payload: { query } })
    const before = (await socket.nextJson()).payload.data.users
    expect(before.users).toContainEqual({ id: '31' })
    await demo.query('mutation { updateUser(id: "31", status: OFFLINE) { id } }')
    const after = (await socket.nextJson()).payload.data.users
    expect(after.users).not.toContainEqual({ id: '31' })
    expect(after.totalCount).toBe(before.totalCount - 1)
  })

  it('POLLING sends at every interval, HASH_DIFF only what changed', async () => {
    const polling = await connect()
    polling.sendJson({
      id: 'p',
      type: 'subscribe',
      payload: { query: 'query @live { serverStats { rpcCount } }' },
    })
    const hashDiff = await connect()
    hashDiff.sendJson({ id: 'h', type: 'subscribe', payload: { query: 'query @live { onlineCount }' } })
    const { onlineCount } = (await hashDiff.nextJson()).payload.data

    const polled = await polling.takeJson(3, 5_000)
    expect(polled.map(({ payload }) => payload.revision)).toEqual([1, 2, 3])
    await hashDiff.silence(700)
    await demo.query('mutation { updateUser(id: "33", status: OFFLINE) { id } }')
    expect((await hashDiff.nextJson()).payload.data).toEqual({ onlineCount: onlineCount - 1 })
  })

  it('a field that is not live gets an error, the socket lives', async () => {
    const socket = await connect()
    socket.sendJson({
      id: 'a',
      type: 'subscribe',
      payload: { query: 'query @live { dealOfTheDay { discountPercent } }' },
    })
    expect(await socket.nextJson()).toMatchObject({
      id: 'a',
      type: 'error',
      payload: [{ extensions: { code: 'LIVE_QUERY_NOT_ENABLED' } }],
    })
    socket.sendJson({ type: 'ping' })
    expect(await socket.nextJson()).toEqual({ type: 'pong' })
  })

  it('a server-streaming RPC is a subscription', async () => {
    const socket = await connect()
    const query = 'subscription { userEvents { kind user { id name } } }'
    socket.sendJson({ id: 's', type: 'subscribe', payload: { query } })
    // The stream has no first event; the mutation is repeated until the stream is open.
    const renames = setInterval(
      () => void demo.query('mutation { updateUser(id: "41", name: "E") { id } }'),
      100,
    )
    onTestFinished(() => clearInterval(renames))
    expect(await socket.nextJson()).toMatchObject({
      id: 's',
      type: 'next',
      payload: { data: { userEvents: { kind: 'UPDATED', user: { id: '41', name: 'E' } } } },
    })
  })
})
