// What OpenTelemetry's Node SDK registers, as far as HTTP goes; each span that ends is a line of stdout.
import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { registerInstrumentations } from '@opentelemetry/instrumentation'
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'

const exporter = {
  export(spans, done) {
    for (const { name, kind, parentSpanContext, instrumentationScope, ...span } of spans) {
      const { traceId, spanId } = span.spanContext?.() ?? span._spanContext
      const facts = {
        name,
        kind,
        traceId,
        spanId,
        parent: parentSpanContext?.spanId,
        by: instrumentationScope.name,
      }
      process.stdout.write(`SPAN ${JSON.stringify(facts)}\n`)
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
registerInstrumentations({ instrumentations: [new HttpInstrumentation(), new UndiciInstrumentation()] })
