import type { Random } from '@vinyasa/test-kit'
import type { Features } from './plan.ts'

export function drawFeatures(random: Random): Features {
  const share = (usual: number): number => random.pick([0, usual, usual, 0.9])
  const weight = (usual: number): number => random.pick([usual, usual, usual * 3])
  return {
    triggers: share(0.4),
    statements: share(0.4),
    links: random.pick([0.4, 0.9]),
    embeds: share(0.5),
    computed: share(0.4),
    notes: share(0.5),
    sides: random.pick([0, 0.15, 0.15, 0.5]),
    cuts: random.pick([0.05, 0.1, 0.3]),
    below: random.pick([0.2, 0.9]),
    steps: {
      watch: weight(8),
      mutate: weight(26),
      race: weight(6),
      attack: weight(6),
      read: 40,
    },
  }
}
