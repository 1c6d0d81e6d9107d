import { METRICS, type MetricDefinition } from '../../apps/gateway/src/observability/metrics/definitions.ts'
import { cell } from './types-of.ts'

/** Returns the page of all metrics. */
export function metricsReference(): string {
  const metrics = Object.entries<MetricDefinition>(METRICS)
  const rows = metrics.map(([name, { type, labels, unit, help }]) =>
    row(code(name), type, Object.keys(labels).map(code).join(', '), unit, cell(help)),
  )
  const labels = metrics.flatMap(([name, definition]) =>
    Object.entries(definition.labels).map(([label, meaning]) => row(code(name), code(label), cell(meaning))),
  )
  const buckets = metrics.flatMap(([name, definition]) =>
    definition.buckets ? [row(code(name), definition.buckets.map(withThousands).join(', '))] : [],
  )
  const combined = metrics.flatMap(([name, { aggregator }]) => (aggregator === 'max' ? [code(name)] : []))
  return `# Metrics

\`GET /metrics\` returns these metrics in the text format of Prometheus. [Observability](/recipes/observability#metrics)
shows how to configure the endpoint and its token.

${table(['metric', 'type', 'labels', 'unit', 'meaning'], rows)}

Metrics with labels have no samples until the first event. The estimated cost is counted if
[\`cost.max\`](/gateway/config#cost) is above 0, as in the production preset, or \`cost.includeExtensionMetadata\` is true.

## Labels

Clients cannot add series, because labels contain no operation names and no paths outside the gateway.

${table(['metric', 'label', 'values'], labels)}

## Histograms

A histogram \`name\` has the samples \`name_bucket\` (label \`le\`: upper bound), \`name_sum\` and \`name_count\`. The last
bucket has the bound \`+Inf\`.

${table(['metric', 'bounds'], buckets)}

## Workers and reloads

A scrape returns one value for all [workers](/recipes/workers). The values of the workers are added, except for
${combined.join(', ')}: the highest value counts. Counters and histograms continue after a reload, and after a worker
ends. They start at 0 when the gateway starts.
`
}

function table(head: readonly string[], rows: readonly string[]): string {
  return [row(...head), row(...head.map(() => '---')), ...rows].join('\n')
}

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const code = (text: string): string => `\`${text}\``

const withThousands = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 4 })
