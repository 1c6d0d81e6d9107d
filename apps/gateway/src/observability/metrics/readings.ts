import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client'

/** The values of all metrics of one gateway, in the form that processes send to each other. */
export type Readings = readonly MetricObjectWithValues<MetricValue<string>>[]

/** Combines several readings in one registry. Values are added, except for metrics with the aggregator `max`. */
export function registryOf(all: readonly Readings[]): Registry {
  return AggregatorRegistry.aggregate(all as object[])
}

/** Returns the sum of counters and histograms. Gauges of a gateway that has ended are dropped. */
export async function sumOfGrowing(all: readonly Readings[]): Promise<Readings> {
  // The type of `getMetricsAsJSON` is wrong: it declares a single metric.
  const sum = (await registryOf(all).getMetricsAsJSON()) as unknown as Readings
  return sum.filter(({ type }) => String(type) !== 'gauge')
}
