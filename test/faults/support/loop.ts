import { fileURLToPath } from 'node:url'
import type { SpawnedProcess } from '@vinyasa/test-kit'

/** Flags for Node that let `turnsOf` look at a process. */
export const LOOP_PROBE: readonly string[] = [
  '--import',
  fileURLToPath(new URL('./loop-probe.mjs', import.meta.url)),
]

export interface Turns {
  /** Processor time of the longest turn of the event loop. */
  readonly longestMs: number
  /** Of all turns. */
  readonly allMs: number
}

/** What a process that was started with LOOP_PROBE does meanwhile. */
export async function turnsOf(process: SpawnedProcess, run: () => Promise<unknown>): Promise<Turns> {
  const answer = async (pattern: RegExp): Promise<RegExpMatchArray> => {
    const before = process.lines.length
    process.signal('SIGUSR2')
    for (;;) {
      const found = process.lines.slice(before).find((line) => pattern.test(line))
      if (found !== undefined) return pattern.exec(found) as RegExpMatchArray
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  await answer(/^loop-probe begins$/)
  await run()
  const [, longest, all] = await answer(/^loop-probe (\d\S*) (\S+)$/)
  return { longestMs: Number(longest), allMs: Number(all) }
}
