import type { ModelReport } from './run.ts'

const list = (entries: readonly (readonly [string, number])[]): string =>
  entries.map(([name, count]) => `${name} × ${count}`).join(', ') || 'none'

export function formatReport({ seed, seconds, worlds, tally, violations }: ModelReport): string {
  return [
    `model, seed ${seed}, ${Math.round(seconds)} s: ${violations.length} violations in ${worlds} worlds, ` +
      `${tally.of('reads compared')} reads compared, ${tally.of('live updates')} live updates`,
    `  worlds: ${list(tally.under('world '))}`,
    `  steps: ${list(tally.under('step '))}`,
    `  mutations: ${list(tally.under('mutation '))}`,
    `  cache: ${list(tally.under('cache '))}`,
    ...violations.map(
      ({ what, world, step, afterSeconds }) =>
        `  VIOLATION ${what}: --seed ${seed}:${world}, step ${step}, after ${afterSeconds.toFixed(1)} s`,
    ),
  ].join('\n')
}
