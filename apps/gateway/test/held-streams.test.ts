import { createLedger, heldBytes, type Ledger, processLedger } from '@vinyasa/core'
import { expect, it, onTestFinished } from 'vitest'
import { createGateway } from '../src/gateway.ts'
import { createLogger } from '../src/logging/logger.ts'
import { serve } from '../src/server.ts'

const OF_PROCESS = Symbol.for('vinyasa.ledger')
const logger = await createLogger({ level: 'silent' })
/** GraphQL ignores it. */
const UNDECLARED = { a: Array.from({ length: 10_000 }, () => ({})) }

function replaceLedger(maxBytes: number): Ledger {
  const ofProcess = globalThis as { [OF_PROCESS]?: Ledger }
  const before = processLedger()
  const ledger = createLedger(maxBytes)
  ofProcess[OF_PROCESS] = ledger
  onTestFinished(() => void (ofProcess[OF_PROCESS] = before))
  return ledger
}

async function start(): Promise<string> {
  const gateway = await createGateway(
    {
      typeDefs: 'type Query { now: Int } type Subscription { ticks: Int }',
      resolvers: {
        Query: { now: () => 1 },
        Subscription: {
          ticks: {
            async *subscribe() {
              yield { ticks: 1 }
              await new Promise(() => {})
            },
          },
        },
      },
      liveQuery: { fields: { now: { enabled: true, pollIntervalMs: 60_000 } } },
    },
    { baseDirectory: '/', logger },
  )
  const server = await serve(gateway, { port: 0 })
  onTestFinished(() => server.close({ graceMs: 0 }))
  return `${server.url}/graphql`
}

/** Resolves once the first result has come; then with whether the stream was cut off. */
async function open(url: string, query: string, accept: string, signal?: AbortSignal) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify({ query, variables: UNDECLARED }),
    ...(signal && { signal }),
  })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.includes('"data":')) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`the stream ended with ${response.status}: ${text}`)
    text += value
  }
  const isCut = async (): Promise<boolean> => {
    for (;;) {
      const step = await reader.read().catch(() => undefined)
      if (!step || step.done) return step === undefined
    }
  }
  return isCut()
}

it.each([
  ['query @live { now }', 'text/event-stream'],
  ['subscription { ticks }', 'text/event-stream'],
  ['query @live { now }', 'multipart/mixed;subscriptionSpec=1.0'],
  ['subscription { ticks }', 'multipart/mixed;subscriptionSpec=1.0'],
])('%s, as %s: its parameters are in the ledger until it ends', async (query, accept) => {
  const ledger = replaceLedger(100_000_000)
  const url = await start()
  const leaving = new AbortController()
  void open(url, query, accept, leaving.signal).catch(() => {})
  await expect.poll(() => ledger.bytes).toBeGreaterThan(heldBytes(UNDECLARED))
  leaving.abort()
  await expect.poll(() => ledger.bytes).toBeLessThan(heldBytes(UNDECLARED))
})

it('streams are cut off when the memory is needed', async () => {
  const ledger = replaceLedger(2_000_000)
  const url = await start()
  const streams: Promise<boolean>[] = []
  for (let n = 0; n < 4; n++) streams.push(open(url, 'query @live { now }', 'text/event-stream'))
  expect(await Promise.any(streams)).toBe(true)
  expect(ledger.bytes).toBeLessThan(2_000_000)
})
