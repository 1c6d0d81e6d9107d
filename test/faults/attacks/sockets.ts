import type { Socket } from 'node:net'
import type { Attack, AttackRun } from './attack.ts'
import { ANOTHER_ADDRESS, frame, openWebSocket, pause, goneWithin } from './wire.ts'

const USERS = 'users(limit: 100) { users { id name } }'
/** Each of another number of users. */
const LIVE = 'query ($limit: Int!) @live { users(limit: $limit) { users { id name } } }'
/** Some 300 kB. */
const LARGE = `{ ${Array.from({ length: 60 }, (_, n) => `a${n}: ${USERS}`).join(' ')} }`

/** So many sockets of one address, each opened again when it is gone. `subscribe` gives the payloads of its operations. */
async function sockets(
  count: number,
  run: AttackRun,
  ask: { readonly payloads: readonly object[]; readonly reads: (socket: number) => boolean },
): Promise<void> {
  const { signal, target } = run
  const one = async (index: number): Promise<void> => {
    await pause(index, signal)
    while (!signal.aborted) {
      const socket = await openWebSocket(target, signal, {
        localAddress: ANOTHER_ADDRESS,
        payload: { index },
      })
      if (ask.reads(index)) socket.resume()
      else socket.pause()
      subscribe(socket, ask.payloads)
      await goneWithin(20_000, socket, signal)
      socket.destroy()
      await pause(200, signal)
    }
  }
  await Promise.all(Array.from({ length: count }, (_, index) => one(index)))
}

function subscribe(socket: Socket, payloads: readonly object[]): void {
  const messages = payloads.map((payload, id) =>
    frame(JSON.stringify({ id: String(id), type: 'subscribe', payload })),
  )
  socket.write(Buffer.concat(messages))
}

const twenty = (payload: (n: number) => object): readonly object[] =>
  Array.from({ length: 20 }, (_, n) => payload(n))

/** What clients do with many sockets. */
export const socketAttacks: readonly Attack[] = [
  {
    name: '1,000 sockets with 20 live queries each, a fifth of which do not read',
    run: (run) =>
      sockets(1_000, run, {
        payloads: twenty((n) => ({ query: LIVE, variables: { limit: n + 1 } })),
        reads: (socket) => socket % 5 !== 0,
      }),
  },
  {
    name: '1,000 sockets with 20 queries each do not read',
    run: (run) =>
      sockets(1_000, run, { payloads: twenty(() => ({ query: `{ ${USERS} }` })), reads: () => false }),
  },
  {
    name: '300 sockets with 20 large answers each do not read',
    run: (run) => sockets(300, run, { payloads: twenty(() => ({ query: LARGE })), reads: () => false }),
  },
]
