// OpenTelemetry's SDK, registered as its Node SDK does it: a share of the traces, in batches. The exporter writes what it
// is given as JSON, and sends it to nobody.
import { trace } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'

const exporter = {
  export(spans, done) {
    for (const { name, attributes, status, startTime, endTime } of spans)
      JSON.stringify({ name, attributes, status, startTime, endTime })
    done({ code: 0 })
  },
  async shutdown() {},
}

trace.setGlobalTracerProvider(
  new BasicTracerProvider({
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(Number(process.env.BENCH_TRACES)) }),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  }),
)
