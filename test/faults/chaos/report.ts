import { ALLOWED_CODES } from './client.ts'
import type { ChaosReport } from './run.ts'

const list = (entries: Iterable<readonly [string, number]>): string =>
  [...entries].map(([name, count]) => `${name} × ${count}`).join(', ') || 'none'

/** One line for a table of results. */
export function summaryOf({
  violations,
  reads,
  mutations,
  tally,
  convergedMs,
  heaps,
  rounds,
}: ChaosReport): string {
  const third = heaps[Math.ceil(heaps.length / 3) - 1]?.heapMb ?? 0
  const end = heaps.at(-1)?.heapMb ?? 0
  return (
    `${violations.length} violations in ${reads} values read, ${mutations.ok} mutations, ` +
    `${tally.of('live updates')} live updates, ${rounds} quiet moments; slowest live client ` +
    `${Math.round(Math.max(...convergedMs))} ms; heap ${third.toFixed(1)} MB after the first third, ${end.toFixed(1)} MB at the end`
  )
}

export function formatReport(report: ChaosReport): string {
  const { seed, seconds, tally, faults, mutations, convergedMs, heaps, logged, violations } = report
  return [
    `chaos, seed ${seed}, ${seconds} s: ${summaryOf(report)}`,
    `  faults: ${list(faults)}`,
    `  mutations: ${mutations.ok} answered, ${mutations.failed} failed, of which ${mutations.carriedOutAllTheSame} were carried out`,
    `  cache: ${list(tally.under('cache '))}`,
    `  errors (allowed: ${[...ALLOWED_CODES].join(', ')}): ${list(tally.under('error '))}`,
    `  WebSocket closes: ${list(tally.under('close '))}; deferred parts: ${tally.of('deferred parts')}`,
    `  converged after quiet, ms: ${convergedMs.map(Math.round).join(', ')}`,
    `  heap after collection, MB: ${heaps.map(({ heapMb }) => heapMb.toFixed(1)).join(', ')}`,
    `  logged by gateways: ${list([...logged].toSorted(([, a], [, b]) => b - a).slice(0, 12))}`,
    ...violations.slice(0, 40).map((violation) => `  VIOLATION ${violation}`),
    ...(violations.length > 40 ? [`  … and ${violations.length - 40} more`] : []),
  ].join('\n')
}
