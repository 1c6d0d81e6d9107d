import { createDisposables, createRandom } from '@vinyasa/test-kit'
import { drawRow, offRow, pathsOf } from '../draw-row.ts'
import type { Row } from '../feature.ts'
import { FEATURES } from '../features.ts'
import { startLibrary } from '../library.ts'
import { WATCHED } from '../operations.ts'
import { startServers } from '../servers.ts'
import { openFolder, start, writeConfig } from '../start.ts'
import { USERS } from '../users.ts'
import { cpuOf } from './cpu-of.ts'

/** Requests that one gateway is sent in a round, so many at a time. */
const REQUESTS = 300
const AT_ONCE = 6
/** Requests until V8 has compiled what they need: anew where nobody asked for some ten seconds, as it lets go of shapes and code then. */
const WARM = 6_000

/** A gateway whose requests are measured. */
export interface Measured {
  /** Asks it until it is as fast as it gets. */
  warm(): Promise<void>
  /** Microseconds of CPU for each request of a round. */
  round(): Promise<number>
  [Symbol.asyncDispose](): Promise<void>
}

/** A gateway with these values and nothing else, without any instrument, in front of backends of its own. */
export async function openMeasured(values: Row): Promise<Measured> {
  const row = { ...offRow(FEATURES), ...values }
  const stack = createDisposables()
  const folder = stack.use(openFolder())
  const library = stack.use(await startLibrary())
  const servers = stack.use(await startServers(FEATURES, row))
  const addresses = { folder: folder.path, grpc: library.grpc.address, rest: library.rest.url }
  const drawn = drawRow(FEATURES, row, 1, { ...servers.first, ...addresses })
  const { graphql, ready } = pathsOf(drawn)
  const { process: gateway, port } = await start({
    file: writeConfig(folder.path, drawn, createRandom(1, 'row')),
    readyPath: ready,
  })
  stack.use(gateway)
  const headers = {
    ...USERS[0]?.headers,
    ...Object.assign({}, ...drawn.map(({ value }) => value.headers)),
    'content-type': 'application/json',
    accept: 'application/json',
  }
  const body = JSON.stringify({ query: WATCHED.text })
  async function ask(): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${port}${graphql}`, { method: 'POST', headers, body })
    const text = await response.text()
    if (response.status !== 200 || !text.includes('"data":{"book":{'))
      throw new Error(`${response.status}: ${text}`)
  }
  async function send(count: number): Promise<void> {
    let left = count
    const turn = async (): Promise<void> => {
      while (left-- > 0) await ask()
    }
    await Promise.all(Array.from({ length: AT_ONCE }, turn))
  }
  return {
    warm: () => send(WARM),
    async round() {
      const before = cpuOf(gateway.pid)
      await send(REQUESTS)
      return (cpuOf(gateway.pid) - before) / REQUESTS / 1_000
    },
    [Symbol.asyncDispose]: () => stack.dispose(),
  }
}
