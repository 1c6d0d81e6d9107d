import { connect, type Socket } from 'node:net'
import { bodyOf, headersOf, pathOf } from './load.ts'
import type { BenchRequest } from './types.ts'

export interface OpenLoopOptions {
  readonly requestsPerSecond: number
  readonly seconds: number
  readonly connections: number
  /** How long answers are waited for when all is sent. Default: 10 s. */
  readonly graceMs?: number
}

export interface OpenLoopResult {
  readonly requests: number
  /** Answers that were not 200. */
  readonly errors: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  /** What this client itself was late by, at its 99th percentile, where a connection was free. */
  readonly ownDelayP99Ms: number
}

interface Connection {
  readonly socket: Socket
  /** When the request that it carries was due. */
  dueAt: number
  head: Buffer | undefined
  /** Bytes of a body that have not come yet. */
  missing: number
}

const END_OF_HEAD = '\r\n\r\n'

/**
 * Sends requests at a steady rate whether or not earlier ones were answered, as clients do that know nothing of each
 * other. A request's time begins when it was due: one that had to wait for a free connection, because the server
 * stood still, has waited (wrk, which sends the next when the last is answered, leaves such waits out). The rate is
 * kept by looking at the clock all the time, as timers have steps of a millisecond: this takes a processor of its own.
 */
export async function sendOpenLoop(
  origin: string,
  request: BenchRequest,
  { requestsPerSecond, seconds, connections, graceMs = 10_000 }: OpenLoopOptions,
): Promise<OpenLoopResult> {
  const { hostname, port, host } = new URL(origin)
  const total = Math.floor(requestsPerSecond * seconds)
  const gapMs = 1000 / requestsPerSecond
  const times: number[] = []
  const ownDelays: number[] = []
  const free: Connection[] = []
  const write = writerOf(request, host)
  let errors = 0
  let failure: Error | undefined

  function onData(connection: Connection, chunk: Buffer): void {
    if (connection.missing === 0) {
      const head = connection.head ? Buffer.concat([connection.head, chunk]) : chunk
      const end = head.indexOf(END_OF_HEAD)
      if (end < 0) {
        connection.head = head
        return
      }
      connection.head = undefined
      const text = head.toString('latin1', 0, end)
      const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1]
      if (length === undefined) throw new Error(`An answer without a length: ${text}`)
      if (!text.startsWith('HTTP/1.1 200')) errors++
      connection.missing = Number(length) - (head.length - end - END_OF_HEAD.length)
    } else {
      connection.missing -= chunk.length
    }
    if (connection.missing > 0) return
    times.push(performance.now() - connection.dueAt)
    free.push(connection)
  }

  async function open(): Promise<Connection> {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    const connection: Connection = { socket, dueAt: 0, head: undefined, missing: 0 }
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    socket.on('data', (chunk) => {
      try {
        onData(connection, chunk)
      } catch (error) {
        failure = error as Error
      }
    })
    socket.on('error', (error) => (failure = error))
    socket.on('close', () => (failure ??= new Error('The server closed a connection')))
    return connection
  }

  const all = await Promise.all(Array.from({ length: connections }, open))
  free.push(...all)
  // Due times begin a little later, so that nothing of the start is measured.
  const start = performance.now() + 20
  const giveUpAt = start + seconds * 1000 + graceMs
  let sent = 0
  let lookedAt = start

  await new Promise<void>((resolve) => {
    function turn(): void {
      const now = performance.now()
      while (sent < total && free.length > 0) {
        const dueAt = start + sent * gapMs
        if (dueAt > now) break
        const connection = free.pop() as Connection
        connection.dueAt = dueAt
        // Due since the last look at the clock, and not before: nothing but this client was in the way.
        if (dueAt >= lookedAt) ownDelays.push(now - dueAt)
        write(connection.socket, ++sent)
      }
      lookedAt = now
      if (failure || times.length === total || now > giveUpAt) resolve()
      else setImmediate(turn)
    }
    turn()
  })
  for (const { socket } of all) socket.removeAllListeners('close').destroy()
  if (failure) throw failure
  if (times.length < total)
    throw new Error(`${total - times.length} of ${total} requests were never answered`)
  times.sort((a, b) => a - b)
  ownDelays.sort((a, b) => a - b)
  return {
    requests: total,
    errors,
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
    maxMs: times.at(-1) ?? 0,
    ownDelayP99Ms: percentile(ownDelays, 0.99),
  }
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

/** Writes the request with a number; numbers begin anew where the request says so. */
function writerOf(request: BenchRequest, host: string): (socket: Socket, count: number) => void {
  const { method = 'POST', numbers = Number.MAX_SAFE_INTEGER } = request
  const headers = Object.entries({ host, ...headersOf(request) })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  const first = request.numbers === undefined ? Math.floor(Math.random() * 1e9) : 0
  return (socket, count) => {
    const number = ((first + count - 1) % numbers) + 1
    const body = method === 'GET' ? '' : bodyOf(request, number)
    const length = method === 'GET' ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`
    socket.write(`${method} ${pathOf(request, number)} HTTP/1.1\r\n${headers}${length}\r\n${body}`)
  }
}
