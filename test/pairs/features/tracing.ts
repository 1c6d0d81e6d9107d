import { constant } from 'fast-check'
import type { Feature, Value } from '../feature.ts'
import type { Run } from '../run.ts'
import { type SpanFacts, spansIn } from '../spans.ts'
import { parentOf, traceOf } from '../trace-of.ts'

const EXPORTER = new URL('../instruments/traced.mjs', import.meta.url).href
const [SERVER, CLIENT] = [1, 2]

/** One tree of spans for each request, below the client's, and in it each call of a backend that it has made. */
function* observe({ sent, grpcCalls, restRequests, folder, row, lines }: Run): Generator<string> {
  const spans = new Map<string, SpanFacts[]>()
  for (const span of spansIn(folder)) spans.set(span.traceId, [...(spans.get(span.traceId) ?? []), span])
  const calls = new Map<string, SpanFacts>()
  for (const span of [...spans.values()].flat()) if (span.kind === CLIENT) calls.set(span.spanId, span)
  for (const { id, status, operations } of sent) {
    const tree = spans.get(traceOf(id)) ?? []
    const ids = new Set(tree.map(({ spanId }) => spanId))
    const what = `${operations[0]?.operation.name} ${id}, ${status}`
    const roots = tree.filter(({ parent }) => parent === undefined || !ids.has(parent))
    if (roots.length !== 1) yield `trees of one request: ${roots.length}, ${what}, ${namesOf(roots)}`
    else if (roots[0]?.kind !== SERVER || roots[0].parent !== parentOf(id))
      yield `a request is not below its client: ${what}, ${namesOf(roots)}`
    if (tree.filter(({ kind }) => kind === SERVER).length > 1)
      yield `a request has several spans of a server: ${what}, ${namesOf(tree)}`
  }
  // Another gateway has spans of its own.
  const isAlone = row['gateways'] === '1'
  const carried = [
    ...grpcCalls.map(({ method, metadata }) => ({ of: method, parents: metadata['traceparent'] ?? [] })),
    ...restRequests
      // Nobody asks for what the gateway looks at by itself.
      .filter(({ method, rawUrl }) => method !== 'HEAD' && !rawUrl.endsWith('?health'))
      .map(({ method, rawUrl, rawHeaders }) => ({
        of: `${method} ${rawUrl}`,
        parents: rawHeaders.filter(
          (_, at) => rawHeaders[at - 1]?.toLowerCase() === 'traceparent' && at % 2 === 1,
        ),
      })),
  ].filter(({ of }) => !of.startsWith('grpc.'))
  for (const { of, parents } of carried) {
    if (parents.length !== 1) {
      yield `a call has not one traceparent: ${parents.length}, ${of}`
      continue
    }
    const [, trace, span] = String(parents[0]).split('-')
    const found = calls.get(span ?? '')
    if (isAlone && found?.traceId !== trace)
      yield `a call is below no span of it: ${of}, ${String(parents[0])}`
  }
  if (row['log'] === 'json') yield* linesWithTraces(lines, sent)
}

/** Lines of the log name the trace of their request. */
function* linesWithTraces(lines: Run['lines'], sent: Run['sent']): Generator<string> {
  const ids = new Set(sent.map(({ id }) => id))
  for (const text of lines.filter((line) => line.startsWith('{'))) {
    const line = JSON.parse(text) as {
      readonly msg?: string
      readonly id?: string
      readonly trace_id?: string
    }
    if (line.msg !== 'request' || line.id === undefined || !ids.has(line.id)) continue
    if (line.trace_id !== traceOf(line.id))
      yield `a line of the log has another trace: ${line.trace_id}, ${line.id}`
  }
}

const namesOf = (spans: readonly SpanFacts[]): string =>
  spans.map(({ name, kind, by }) => `${name} (${kind}, ${by})`).join('; ')

const traced = (name: string, search: string): Value => ({
  name,
  config: () => constant({ tracing: true }),
  imports: [`${EXPORTER}${search}`],
  observe,
})

export const tracing: Feature = {
  name: 'tracing',
  settings: ['tracing'],
  values: [{ name: 'off' }, traced('on', ''), traced('beside OpenTelemetry', '?http')],
}
