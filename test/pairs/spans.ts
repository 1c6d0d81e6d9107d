import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One span that a gateway of the row has ended, as its exporter writes it. */
export interface SpanFacts {
  readonly name: string
  /** Of OpenTelemetry's `SpanKind`: 1 is SERVER, 2 CLIENT. */
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parent?: string
  /** The name of what has made it. */
  readonly by: string
}

/** All spans that the gateway of the folder has exported so far. */
export function spansIn(folder: string): readonly SpanFacts[] {
  const file = join(folder, 'spans')
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as SpanFacts)
}
