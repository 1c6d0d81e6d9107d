// Registers with OpenTelemetry what its Node SDK does; each span that ends is a line of a file. With `?http` its
// instrumentations of HTTP stand beside the gateway's own spans.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { registerInstrumentations } from '@opentelemetry/instrumentation'
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'

const file = join(process.env.PAIRS_FOLDER, 'spans')
const exporter = {
  export(spans, done) {
    for (const { name, kind, parentSpanContext, instrumentationScope, ...span } of spans) {
      const { traceId, spanId } = span.spanContext?.() ?? span._spanContext
      const parent = parentSpanContext?.spanId
      const by = instrumentationScope.name
      appendFileSync(file, `${JSON.stringify({ name, kind, traceId, spanId, parent, by })}\n`)
    }
    done({ code: 0 })
  },
  shutdown: async () => {},
}
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
propagation.setGlobalPropagator(new W3CTraceContextPropagator())
trace.setGlobalTracerProvider(
  new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
)
if (new URL(import.meta.url).search === '?http')
  registerInstrumentations({ instrumentations: [new HttpInstrumentation(), new UndiciInstrumentation()] })
