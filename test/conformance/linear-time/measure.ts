import { performance } from 'node:perf_hooks'

/** A function that reads text of a client, a backend, a broker or a downloaded document, or what was parsed of it. */
export type Reads<Input = string> = (input: Input) => unknown

/**
 * `pnpm test:linear-time` runs alone and sets this. Otherwise the tests run beside others, where caches and collections of
 * garbage make a function take several times as long: the bounds only find what is not linear, or takes very long.
 */
const IS_EXACT = process.env['EXACT'] !== undefined
/** Greatest ratio of the times at 2n and n. A quadratic function has 4. */
const MAX_RATIO = IS_EXACT ? 2.3 : 3
/** Greatest time at the limit on the machine that `REFERENCE_MS` was measured on. Slower machines get more. */
const MAX_TURN_MS = IS_EXACT ? 20 : 100
/** Shorter times are noise, and harmless. */
const LEAST_MS = 3
const REFERENCE_MS = 4
const ATTEMPTS = 3

/** How many of the texts that took longest are measured exactly. */
const JUDGED = 2
/** Greatest ratio of the times at 8n and n that shows a linear function. A quadratic one has 64. */
const MAX_STEP = 16
/** Greatest ratio of the times at 4n and n, where n takes long enough that collections of garbage are in both. A quadratic one has 16. */
const MAX_LONG_RATIO = IS_EXACT ? 8 : 11
/** Processor time is not exact below this. */
const LEAST_PROCESSOR_MS = 1

/** Makes an input of about so many characters. */
export type Hard<Input = string> = (length: number) => Input
export type HardText = Hard

/** Returns what is wrong with the times of a function up to `limit` characters, on any of the texts. */
export async function findSlowness<Input>(
  read: Reads<Input>,
  hardTexts: readonly Hard<Input>[],
  limit: number,
): Promise<string[]> {
  const screened: { readonly hardText: Hard<Input>; readonly took: number }[] = []
  for (const hardText of hardTexts) {
    const took = await screen(read, hardText, limit)
    if (took > LEAST_MS) screened.push({ hardText, took })
  }
  const slowest = screened.toSorted((a, b) => b.took - a.took).slice(0, JUDGED)
  const found: string[] = []
  for (const { hardText, took } of slowest) {
    const slowness = await judge(read, hardText, limit, took)
    if (slowness !== undefined) found.push(`${shown(hardText(16))}: ${slowness}`)
  }
  return found
}

/**
 * Returns the time at the limit, or at a shorter length that takes long already: some functions would never end. If shorter
 * lengths show that a function is linear and far from `MAX_TURN_MS`, the limit itself is not tried.
 */
async function screen<Input>(read: Reads<Input>, hardText: Hard<Input>, limit: number): Promise<number> {
  let before = Number.POSITIVE_INFINITY
  for (const share of [64, 8, 1]) {
    const text = hardText(Math.ceil(limit / share))
    let took = await timeOf(read, text)
    const isFast = (): boolean => {
      const isHarmless = took * share ** 2 < MAX_TURN_MS
      return isHarmless || (took / before < MAX_STEP && took * share < MAX_TURN_MS / 2)
    }
    // The first run of a function is slower than later ones.
    if (!isFast()) took = Math.min(took, await timeOf(read, text))
    if (share === 1 || took > 10 * MAX_TURN_MS || isFast())
      return took * (took > 10 * MAX_TURN_MS ? 1 : share)
    before = took
  }
  return before
}

async function judge<Input>(
  read: Reads<Input>,
  hardText: Hard<Input>,
  limit: number,
  screened: number,
): Promise<string | undefined> {
  let found: string | undefined
  for (let attempt = 0, took = screened; attempt < ATTEMPTS; attempt++) {
    if (took > 10 * MAX_TURN_MS) took = await screen(read, hardText, limit)
    found = took > 10 * MAX_TURN_MS ? `takes ${took.toFixed(0)} ms` : await measure(read, hardText, limit)
    if (found === undefined) return undefined
  }
  return found
}

async function measure<Input>(
  read: Reads<Input>,
  hardText: Hard<Input>,
  limit: number,
): Promise<string | undefined> {
  const texts = [limit / 4, limit / 2, limit].map((length) => hardText(Math.floor(length)))
  const whole = texts.at(-1) as Input
  if ((await timeOf(read, whole)) < LEAST_MS) return undefined
  const least = texts.map(() => Number.POSITIVE_INFINITY)
  /** What is short may run without a collection of garbage, and look faster than it is. */
  const isLinearBeyond = async (): Promise<boolean> =>
    (await timeOf(read, hardText(4 * limit))) / (least.at(-1) ?? 0) <= MAX_LONG_RATIO
  let slow: string | undefined
  for (let round = 1; round <= 5; round++) {
    for (const [index, text] of texts.entries())
      least[index] = Math.min(least[index] ?? Number.POSITIVE_INFINITY, await timeOf(read, text))
    const [quarter = 0, half = 0, full = 0] = least
    const allowed = full > MAX_TURN_MS ? MAX_TURN_MS * slowness() : MAX_TURN_MS
    const isLinear = half < LEAST_MS / 2 || half / quarter <= MAX_RATIO || full / half <= MAX_RATIO
    const shown = least.map((ms) => ms.toFixed(1)).join(', ')
    if (full > allowed) slow = `takes ${full.toFixed(1)} of ${allowed.toFixed(1)} ms at ${limit} characters`
    else if (isLinear || (round > 1 && (await isLinearBeyond()))) slow = undefined
    else slow = `takes ${shown} ms at a quarter, a half and all of ${limit} characters`
    // One round alone may have been disturbed at the shorter lengths.
    if (round > 1 && slow === undefined) return undefined
  }
  return slow
}

/** Starts a watch. While others have the processors the clock alone runs on; while threads help, the process's time runs ahead. */
function startWatch(): () => number {
  const from = performance.now()
  const before = process.cpuUsage()
  return () => {
    const passed = performance.now() - from
    const { user, system } = process.cpuUsage(before)
    return passed < LEAST_PROCESSOR_MS ? passed : Math.min(passed, (user + system) / 1_000)
  }
}

/** Milliseconds of the longest turn of the event loop. */
async function timeOf<Input>(read: Reads<Input>, text: Input): Promise<number> {
  let watched = startWatch()
  let longest = 0
  const turn = (): void => {
    longest = Math.max(longest, watched())
    watched = startWatch()
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

/** The shortest form of an input that tells it apart. */
function shown(input: unknown): string {
  return (Buffer.isBuffer(input) ? input.toString('latin1') : (JSON.stringify(input) ?? String(input))).slice(
    0,
    60,
  )
}

/** How many times slower than the reference this machine is now, at least 1. */
function slowness(): number {
  const text = 'abcdefgh'.repeat(4_096)
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 5; round++) {
    const watched = startWatch()
    let sum = 0
    for (let times = 0; times < 100; times++)
      for (let at = 0; at < text.length; at++) sum = (sum * 31 + text.charCodeAt(at)) | 0
    least = Math.min(least, watched() + (sum === 0.5 ? 1 : 0))
  }
  return Math.max(1, least / REFERENCE_MS)
}
