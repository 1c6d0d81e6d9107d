import type { GatewayConfig } from '../config/types.ts'
import { deadlinesOf } from '../http/deadlines.ts'
import { declaredSources } from '../sources/kinds.ts'

/** Says of each source whose calls may take longer than an answer may take to begin that it is cut off before. */
export function lateBackends(config: GatewayConfig): readonly Note[] {
  const { answerTimeoutMs } = deadlinesOf(config.server ?? {})
  return declaredSources(config)
    .filter(({ longestCallMs }) => answerTimeoutMs > 0 && longestCallMs > answerTimeoutMs)
    .map(({ section, name, longestCallMs }) => ({
      source: name,
      note: `${section}.${name}: its calls can take ${longestCallMs} ms, but server.answerTimeoutMs ends responses that have not started after ${answerTimeoutMs} ms; set server.answerTimeoutMs to a higher value`,
    }))
}

/** A note on something that may not be as it was meant. */
export interface Note {
  readonly source: string
  readonly note: string
}
