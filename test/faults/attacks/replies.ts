import type { Attack, AttackRun } from './attack.ts'
import { send } from './bodies.ts'
import { clients } from './clients.ts'
import { ANOTHER_ADDRESS, drained, open, pause, post, goneWithin } from './wire.ts'

/** Asks a backend of `backends-process.ts` for replies that take much memory, so many at once. */
function replies(name: string, atOnce: number, field: string): Attack {
  const query = `query ($seed: Int!) { ${field} }`
  return {
    name,
    run: (run) =>
      send(atOnce, run, () =>
        post(JSON.stringify({ query, variables: { seed: run.random.below(2 ** 31) } }), {
          headers: 'Connection: close\r\n',
        }),
      ),
  }
}

/** Asks on so many connections, and reads nothing. */
function unread(name: string, count: number, query: string, accept: string): Attack {
  const one = (run: AttackRun) => async (client: number) => {
    await pause(client * 5, run.signal)
    const socket = await open(run.target, run.signal, ANOTHER_ADDRESS)
    const body = JSON.stringify({ query, variables: { seed: client, limit: (client % 100) + 1 } })
    socket.pause().write(post(body, { headers: `Accept: ${accept}\r\nx-graphql-yoga-csrf: 1\r\n` }))
    await goneWithin(20_000, socket, run.signal)
    socket.destroy()
    await pause(500, run.signal)
  }
  return { name, run: (run) => clients(count, run, one(run)) }
}

const USERS = '(limit: $limit) { users { id name email status } }'
const LARGE = Array.from({ length: 28 }, (_, n) => `a${n}: users${USERS}`).join(' ')

const UPLOAD = [
  '--b\r\nContent-Disposition: form-data; name="operations"\r\n\r\n',
  JSON.stringify({
    query: 'mutation ($file: Upload!) { hostileUpload(input: $file) }',
    variables: { file: null },
  }),
  '\r\n--b\r\nContent-Disposition: form-data; name="map"\r\n\r\n{"0":["variables.file"]}',
  '\r\n--b\r\nContent-Disposition: form-data; name="0"; filename="0"\r\n\r\n',
].join('')
const UPLOAD_HEAD =
  'POST /graphql HTTP/1.1\r\nHost: x\r\nx-graphql-csrf: 1\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 90000000\r\n\r\n'

/** What backends send, and what clients do not read, held on the way from one to the other. */
export const replyAttacks: readonly Attack[] = [
  replies(
    'replies of REST: gzip that becomes 9.8 MB of text',
    100,
    'hostileRest(how: "packed", seed: $seed)',
  ),
  replies('replies of REST: gzip that becomes 450,000 items', 100, 'hostileRest(how: "listed", seed: $seed)'),
  replies('replies of REST: 1,000,000 chunks of a byte', 20, 'hostileRest(how: "shredded", seed: $seed)'),
  replies(
    'replies of gRPC: gzip that becomes 3.9 MB',
    100,
    'hostileLong(how: "packed", seed: $seed) { id filler }',
  ),
  replies('replies of gRPC: 3.9 MB of text', 100, 'hostileLong(how: "long", seed: $seed) { id filler }'),
  unread(
    'streams of gRPC with messages of 100 kB, which are not read',
    60,
    'subscription ($seed: Int!) { hostileStream(how: "stream", seed: $seed) { id filler } }',
    'text/event-stream',
  ),
  unread('JSON of 150 kB that is not read', 300, `query ($limit: Int!) { ${LARGE} }`, 'application/json'),
  unread(
    'live queries over SSE that are not read',
    300,
    `query ($limit: Int!) @live { ${LARGE} }`,
    'text/event-stream',
  ),
  unread(
    'deferred answers that are not read',
    300,
    `query ($limit: Int!) { ${LARGE} ... @defer { z: users${USERS} } }`,
    'multipart/mixed, application/json',
  ),
  {
    name: 'uploads to a backend that does not read',
    run: (run) =>
      clients(50, run, async () => {
        const socket = await open(run.target, run.signal, ANOTHER_ADDRESS)
        socket.resume().write(UPLOAD_HEAD + UPLOAD)
        const part = Buffer.alloc(64 * 1024, 'x')
        while (!socket.destroyed && !run.signal.aborted) {
          socket.write(part)
          await drained(socket)
        }
        await pause(100, run.signal)
      }),
  },
]
