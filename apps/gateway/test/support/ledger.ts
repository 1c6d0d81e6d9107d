import { createLedger, type Ledger } from '@vinyasa/core'
import { onTestFinished } from 'vitest'

const OF_PROCESS = Symbol.for('vinyasa.ledger')
const shared = globalThis as { [OF_PROCESS]?: Ledger | undefined }

/** Gives this process a ledger with a budget until the test ends. */
export function useLedger(maxBytes: number): Ledger {
  const before = shared[OF_PROCESS]
  onTestFinished(() => void (shared[OF_PROCESS] = before))
  return (shared[OF_PROCESS] = createLedger(maxBytes))
}
