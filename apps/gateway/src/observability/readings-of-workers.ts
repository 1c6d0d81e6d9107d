import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client'
import { AggregatorRegistry } from 'prom-client'

/** All metrics of one process at one moment, as they go from one process to another. */
export type Readings = readonly MetricObjectWithValues<MetricValue<string>>[]

/** Makes the metrics of one gateway those of its worker. */
export type ShareMetrics = (read: () => Promise<Readings>) => SharedMetrics

export interface SharedMetrics {
  /** Says that the gateway serves: one that a reload has made may fail before. */
  serve(): void
  /** Gives the readings of all workers. @throws MetricsOutOfReachError */
  all(): Promise<readonly Readings[]>
}

/** One registry of several processes' readings: counters, histograms and sizes are added, of states the worst one is taken. */
export function registryOf(all: readonly Readings[]): Registry {
  return AggregatorRegistry.aggregate(all as object[])
}

/** The sum of what never falls while a process lives: of one that has ended it stays what it was. */
export async function sumOfGrowing(all: readonly Readings[]): Promise<Readings> {
  // Prom-client declares one metric where it gives all.
  const sum = (await registryOf(all).getMetricsAsJSON()) as unknown as Readings
  return sum.filter(({ type }) => String(type) !== 'gauge')
}
