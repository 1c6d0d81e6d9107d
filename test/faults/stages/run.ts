import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createRandom, spawnProcess } from '@vinyasa/test-kit'
import { repository } from '../../e2e/support/demo.ts'
import { drawCase, type StageCase } from './draw-case.ts'

export interface StagesOptions {
  readonly seed: number
  readonly count: number
  /** Whether files are streamed. */
  readonly uploads: boolean
  /** Called with each violation as it is found. */
  readonly onViolation: (text: string) => void
}

/** Connections at once; as many may be in flight and few more, so that a place that is not given back is missed. */
const AT_ONCE = 60
const SPARE = 4
/** The stages behind each other, as `gateway.config.ts` has them, twice for a request behind another, and what a busy machine adds. */
const LATEST_MS = 2 * (400 + 1_000 + 1_000) + 6_000

/**
 * Requests of every way in, with everything wrong at every stage, drawn by the seed: each has an answer that is no 500, or an
 * end, in its deadline, and gives its place back. Resolves to how many of each status were seen.
 */
export async function runStages(options: StagesOptions): Promise<ReadonlyMap<string, number>> {
  const { seed, count, uploads, onViolation } = options
  const random = createRandom(seed, 'stages')
  const statuses = new Map<string, number>()
  const config = fileURLToPath(new URL('./gateway.config.ts', import.meta.url))
  await using gateway = await spawnProcess({
    command: process.execPath,
    args: [repository('apps/gateway/dist/main.js'), 'start', '--config', config, '--port', '0'],
    env: { STAGES_IN_FLIGHT: String(AT_ONCE + SPARE), STAGES_UPLOADS: uploads ? '1' : '0' },
    ready: /http:\/\/[^\s"]+:(\d+)\/graphql/,
  })
  const port = Number(gateway.ready?.[1])
  let drawn = 0
  async function client(): Promise<void> {
    while (drawn < count) {
      drawn++
      const one = drawCase(random)
      const seen = await ask(port, one)
      statuses.set(seen, (statuses.get(seen) ?? 0) + 1)
      const isRight = isAnswer(seen, one) || one.after === 'reset' || (one.after === 'end' && seen === LEFT)
      if (!isRight) onViolation(`seed ${seed}, case ${drawn}: ${one.name}: ${seen}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, client))
  if (!gateway.isRunning()) onViolation(`the process ended: ${gateway.output().slice(-1_000)}`)
  for (const line of gateway.lines)
    if (/"level":(50|60)|uncaught/i.test(line)) onViolation(`logged: ${line.slice(0, 500)}`)
  return statuses
}

/** Who ends its side has left, as far as Node knows, unless it was answered before. */
const LEFT = 'closed without an answer'

/** Only what a resolver holds up may need its deadline. */
const isAnswer = (seen: string, { name }: StageCase): boolean =>
  /^[234]\d\d$/.test(seen) || seen === '501' || (seen === '504' && name.includes('hang'))

/** The status of the first answer, or what there was instead of one. */
function ask(port: number, { bytes, pieces, betweenMs, after }: StageCase): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    let text = ''
    const end = (seen: string): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(seen)
    }
    const timer = setTimeout(() => end(`no answer in ${LATEST_MS} ms`), LATEST_MS)
    const status = (): string | undefined =>
      /^(?:HTTP\/1\.1 1\d\d[^]*?\r\n\r\n)*HTTP\/1\.1 ([2-5]\d\d)/.exec(text)?.[1]
    socket.setEncoding('latin1').on('data', (data: string) => {
      text += data
      const seen = status()
      if (seen !== undefined && after !== 'reset') end(seen)
    })
    socket.on('error', (error: NodeJS.ErrnoException) => end(status() ?? `cut: ${error.code}`))
    socket.on('end', () => end(status() ?? LEFT))
    async function write(): Promise<void> {
      for (let at = 0; at < bytes.length && !socket.destroyed; at += pieces) {
        if (at > 0) await sleep(betweenMs)
        socket.write(bytes.subarray(at, at + pieces))
      }
      if (after === 'end') socket.end()
      if (after === 'reset') {
        await sleep(betweenMs)
        socket.resetAndDestroy()
        end('reset')
      }
    }
    socket.once('connect', () => void write())
  })
}
