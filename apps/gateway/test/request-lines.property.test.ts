import * as fc from 'fast-check'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { createLogger, type Logger } from '../src/logging/logger.ts'
import { Recorder } from '../src/observability/recorder.ts'
import { useRecorder } from '../src/observability/use-recorder.ts'
import { createRequestLog } from '../src/observability/request-log.ts'
import { recordOf } from '../src/observability/request-record.ts'

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', 'é"\\', '\u2028', 'a/b', 'HIT'))
const request = fc.record({
  id: fc.option(text),
  made: text,
  method: text,
  path: text,
  operation: fc.option(text),
  status: fc.integer({ min: 100, max: 599 }),
  ms: fc.double({ min: 0, max: 1e21, noNaN: true }),
  cache: fc.option(text),
  calls: fc.nat(),
  errors: fc.option(fc.uniqueArray(text, { minLength: 1, maxLength: 3 })),
  left: fc.boolean(),
  waitedFor: fc.option(fc.uniqueArray(text, { maxLength: 3 })),
})

function lines(): { readonly written: string[]; readonly destination: { write(line: string): void } } {
  const written: string[] = []
  return { written, destination: { write: (line) => void written.push(line) } }
}

type Asked = typeof request extends fc.Arbitrary<infer T> ? T : never

/** What the log says of one request. */
function log(logger: Logger, asked: Asked, redact: readonly string[] = []): void {
  const times = [0, asked.ms]
  const now = (): number => times.shift() ?? asked.ms
  const observers = [createRequestLog({ logger, redact, now })]
  const plugin = useRecorder(new Recorder({ observers, newId: () => asked.made, now }))
  const context: object = asked.left
    ? { res: { destroyed: true, closed: true, writableFinished: false } }
    : {}
  const headers = { get: (name: string) => (name === 'x-request-id' ? asked.id : null) }
  const { method } = asked
  plugin.onRequest?.({ request: { method, headers }, serverContext: context } as never)
  const record = recordOf(context)
  if (!record) throw new Error('no record')
  record.path = asked.path
  record.backendCalls = asked.calls
  if (asked.operation !== null) record.operation = asked.operation
  if (asked.waitedFor) record.waitedFor = asked.waitedFor
  if (asked.errors) record.errorCodes = new Set(asked.errors)
  const response = {
    status: asked.status,
    headers: { get: () => asked.cache, set: () => {} },
  }
  plugin.onResponse?.({ request: { method }, response, serverContext: context } as never)
}

const withoutTime = (written: readonly string[]): string[] =>
  written.map((line) => line.replace(/"time":\d+/, '"time":0'))

it('lines are what pino writes', async () => {
  const [ours, pinos] = [lines(), lines()]
  const logger = await createLogger({ destination: ours.destination })
  const reference = pino({ level: 'info' }, pinos.destination) as Logger
  const same = fc.property(request, (asked) => {
    log(logger, asked)
    log(reference, asked)
    const written = ours.written.splice(0)
    expect(withoutTime(written)).toEqual(withoutTime(pinos.written.splice(0)))
    expect(written).toHaveLength(1)
    expect(JSON.parse(written[0] ?? '').status).toBe(asked.left ? 499 : asked.status)
  })
  fc.assert(same, { numRuns: 1_000 })
})

it('a member that is to be redacted is, in whatever line', async () => {
  const { written, destination } = lines()
  const logger = await createLogger({ destination, redact: ['path'] })
  const redacted = fc.property(request, (asked) => {
    log(logger, { ...asked, left: false }, ['path'])
    expect(JSON.parse(written.pop() ?? '')).toMatchObject({ path: '[redacted]', status: asked.status })
  })
  fc.assert(redacted)
})
