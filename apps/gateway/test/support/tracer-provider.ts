import { trace, type TracerProvider } from '@opentelemetry/api'
import { onTestFinished } from 'vitest'

/** Registers who makes the spans of this test, in place of who was registered. */
export function registerTracerProvider(provider: TracerProvider): void {
  trace.disable()
  trace.setGlobalTracerProvider(provider)
  onTestFinished(() => trace.disable())
}
