import { fileURLToPath } from 'node:url'
import { type SpawnedProcess, waitUntil } from '@vinyasa/test-kit'

/** Flags for Node that let `heapOf` ask a process. */
export const HEAP_PROBE: readonly string[] = [
  '--import',
  fileURLToPath(new URL('./heap-probe.mjs', import.meta.url)),
]

export interface HeapSize {
  readonly heapMb: number
  /** Buffers. */
  readonly externalMb: number
  readonly residentMb: number
  /** 99th percentile of the event loop's delay since the process was last asked; its timer's 10 ms included. */
  readonly loopDelayMs: number
}

/** What a process that was started with HEAP_PROBE holds once garbage is collected. */
export async function heapOf(process: SpawnedProcess): Promise<HeapSize> {
  const lines = (): string[] => process.lines.filter((line) => line.startsWith('heap-probe '))
  const before = lines().length
  process.signal('SIGUSR2')
  await waitUntil(() => lines().length > before, { timeoutMs: 10_000, awaited: 'the heap probe' })
  const [, heap, resident, loopDelayMs, external] = lines().at(-1)!.split(' ').map(Number)
  const [heapMb, residentMb, externalMb] = [heap!, resident!, external!].map((bytes) => bytes / 1_048_576)
  return { heapMb: heapMb!, residentMb: residentMb!, externalMb: externalMb!, loopDelayMs: loopDelayMs! }
}
