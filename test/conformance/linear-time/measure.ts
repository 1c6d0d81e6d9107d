import { performance } from 'node:perf_hooks'

/** A function that reads text of a client, a backend, a broker or a downloaded document. */
export type ReadsText = (text: string) => unknown

/** Greatest ratio of the times at 2n and n. A quadratic function has 4. */
const MAX_RATIO = 2.3
/** Greatest time at the limit on the machine that `REFERENCE_MS` was measured on. Slower machines get more. */
const MAX_TURN_MS = 20
/** Shorter times are noise, and harmless. */
const LEAST_MS = 3
const REFERENCE_MS = 4
const ATTEMPTS = 3

/** How many of the texts that took longest are measured exactly. */
const JUDGED = 3

export type HardText = (length: number) => string

/** Returns what is wrong with the times of a function up to `limit` characters, on any of the texts. */
export async function findSlowness(
  read: ReadsText,
  hardTexts: readonly HardText[],
  limit: number,
): Promise<string[]> {
  const screened: { readonly hardText: HardText; readonly took: number }[] = []
  for (const hardText of hardTexts) {
    const took = await screen(read, hardText, limit)
    if (took > LEAST_MS) screened.push({ hardText, took })
  }
  const slowest = screened.toSorted((a, b) => b.took - a.took).slice(0, JUDGED)
  const found: string[] = []
  for (const { hardText } of slowest) {
    const slowness = await judge(read, hardText, limit)
    if (slowness !== undefined) found.push(`${JSON.stringify(hardText(16))}: ${slowness}`)
  }
  return found
}

/** Returns the time at the limit, or at a shorter length that takes long already: some functions would never end. */
async function screen(read: ReadsText, hardText: HardText, limit: number): Promise<number> {
  let took = 0
  for (const length of [32, 1_024, limit / 8, limit]) {
    took = await timeOf(read, hardText(length))
    if (took > 10 * MAX_TURN_MS) return took
  }
  return took
}

async function judge(read: ReadsText, hardText: HardText, limit: number): Promise<string | undefined> {
  let found: string | undefined
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const took = Math.min(await screen(read, hardText, limit), await screen(read, hardText, limit))
    found = took > 10 * MAX_TURN_MS ? `takes ${took.toFixed(0)} ms` : await measure(read, hardText, limit)
    if (found === undefined) return undefined
  }
  return found
}

async function measure(read: ReadsText, hardText: HardText, limit: number): Promise<string | undefined> {
  const texts = [limit / 4, limit / 2, limit].map((length) => hardText(Math.floor(length)))
  const whole = texts.at(-1) as string
  if ((await timeOf(read, whole)) < LEAST_MS) return undefined
  const times: number[][] = texts.map(() => [])
  for (let round = 0; round < 5; round++)
    for (const [index, text] of texts.entries()) times[index]?.push(await timeOf(read, text))
  const [quarter = 0, half = 0, full = 0] = times.map(median)
  const shown = [quarter, half, full].map((ms) => ms.toFixed(1)).join(', ')
  const least = Math.min(...(times.at(-1) ?? []))
  const allowed = MAX_TURN_MS * slowness()
  if (least > allowed) return `takes ${least.toFixed(1)} of ${allowed.toFixed(1)} ms at ${limit} characters`
  const isLinear = half < LEAST_MS / 2 || half / quarter <= MAX_RATIO || full / half <= MAX_RATIO
  return isLinear ? undefined : `takes ${shown} ms at a quarter, a half and all of ${limit} characters`
}

/** Milliseconds of the longest turn of the event loop. */
async function timeOf(read: ReadsText, text: string): Promise<number> {
  let from = performance.now()
  let longest = 0
  const turn = (): void => {
    longest = Math.max(longest, performance.now() - from)
    from = performance.now()
  }
  try {
    const result = read(text)
    turn()
    if (result instanceof Promise) {
      const over = new AbortController()
      const watch = (): void => {
        turn()
        if (!over.signal.aborted) setImmediate(watch)
      }
      setImmediate(watch)
      await result.catch(() => {}).finally(() => over.abort())
      turn()
    }
  } catch {
    // Refusing the text is fine, if it is fast.
    turn()
  }
  return longest
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

/** How many times slower than the reference this machine is now, at least 1. */
function slowness(): number {
  const text = 'abcdefgh'.repeat(4_096)
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 5; round++) {
    const from = performance.now()
    let sum = 0
    for (let times = 0; times < 100; times++)
      for (let at = 0; at < text.length; at++) sum = (sum * 31 + text.charCodeAt(at)) | 0
    least = Math.min(least, performance.now() - from + (sum === 0.5 ? 1 : 0))
  }
  return Math.max(1, least / REFERENCE_MS)
}
