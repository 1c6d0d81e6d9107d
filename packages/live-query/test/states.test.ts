import { afterEach, describe, expect, it } from 'vitest'
import { USERS, startLive, subscribe, type LiveSetup } from './support.ts'

let setup: LiveSetup
afterEach(() => setup.close())

describe('WebSocket connection and live subscription (the specification’s states, over raw frames)', () => {
  it('connected, not initialised: client sends connection_init → the server sends connection_ack', async () => {
    setup = await startLive()
    const socket = await setup.connect()
    socket.sendJson({ type: 'connection_init' })
    expect(await socket.nextJson()).toEqual({ type: 'connection_ack' })
    expect(socket.protocol).toBe('graphql-transport-ws')
  })

  it('acknowledged: client sends subscribe with a query carrying @live → registered, stripped, next with is_initial true', async () => {
    setup = await startLive()
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', USERS))
    expect(await socket.nextJson()).toEqual({
      id: 'a',
      type: 'next',
      payload: {
        id: 'a',
        is_initial: true,
        revision: 1,
        timestamp: setup.clock.now(),
        data: {
          users: {
            users: [
              { id: '1', name: 'Ada', status: 'ONLINE' },
              { id: '2', name: 'Bob', status: 'AWAY' },
            ],
            totalCount: 2,
          },
        },
      },
    })
    expect(setup.plugin.store.stats()).toMatchObject({ subscriptions: 1, groups: 1 })
  })

  it('subscription active: an invalidation event matches a trigger, throttle_ms has elapsed → re-executed, next with the full result', async () => {
    setup = await startLive()
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', USERS))
    await socket.nextJson()
    await setup.changeUser('1', { name: 'Eve' })
    await setup.clock.advance(99)
    expect(socket.frames).toHaveLength(2)
    await setup.clock.advance(1)
    const { payload } = await socket.nextJson()
    expect(payload).toMatchObject({
      id: 'a',
      is_initial: false,
      revision: 2,
      changed_fields: ['users.users[0].name'],
      timestamp: setup.clock.now(),
      data: { users: { users: [{ name: 'Eve' }, { name: 'Bob' }], totalCount: 2 } },
    })
  })
})
