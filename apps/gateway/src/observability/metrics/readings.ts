import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client'

/** All metrics of one gateway at one moment, as they go from one process to another. */
export type Readings = readonly MetricObjectWithValues<MetricValue<string>>[]

/** One registry of several readings: counters, histograms and sizes are added, of states the worst one is taken. */
export function registryOf(all: readonly Readings[]): Registry {
  return AggregatorRegistry.aggregate(all as object[])
}

/** The sum of what never falls: of what has ended it stays what it was. */
export async function sumOfGrowing(all: readonly Readings[]): Promise<Readings> {
  // Prom-client declares one metric where it gives all.
  const sum = (await registryOf(all).getMetricsAsJSON()) as unknown as Readings
  return sum.filter(({ type }) => String(type) !== 'gauge')
}
