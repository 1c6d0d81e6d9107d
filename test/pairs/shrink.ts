import { fits, offRow } from './draw-row.ts'
import type { Feature, Row } from './feature.ts'

/**
 * Turns features off while the row still breaks the rule: halves of them first, then one by one. What is left needs each
 * of its features. `likely`: values that are tried alone before.
 */
export async function shrink(
  features: readonly Feature[],
  row: Row,
  breaks: (row: Row) => Promise<boolean>,
  likely?: Row,
): Promise<Row> {
  const off = offRow(features)
  const guess = likely && { ...off, ...likely }
  let left = guess && (await breaks(guess)) ? guess : row
  for (let size = Math.ceil(onFeatures(features, left).length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < onFeatures(features, left).length;) {
      const dropped = onFeatures(features, left).slice(at, at + size)
      const smaller = { ...left, ...Object.fromEntries(dropped.map((name) => [name, off[name] as string])) }
      if (fits(features, smaller) && (await breaks(smaller))) left = smaller
      else at += size
    }
  }
  return left
}

/** Names of the features that do not have their first value. */
export function onFeatures(features: readonly Feature[], row: Row): readonly string[] {
  return features.filter(({ name, values }) => row[name] !== values[0].name).map(({ name }) => name)
}
