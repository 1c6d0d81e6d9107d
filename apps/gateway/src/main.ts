#!/usr/bin/env node
import cluster from 'node:cluster'
import { setFlagsFromString } from 'node:v8'
import { backgroundClock, onScriptShellEnd } from '@vinyasa/core'
import { reachedByWorkers } from './bus/reached-brokers.ts'
import { run } from './cli.ts'
import { keepTickShape } from './v8/keep-tick-shape.ts'
import { optimizeLate } from './v8/optimize-late.ts'
import { answerHeartbeat } from './workers/heartbeat.ts'
import { INTERRUPTED, type LogMessage, runWorkers } from './workers/run-workers.ts'
import { printable } from './texts/escapes.ts'
import { send } from './workers/peer.ts'
import { joinReloads } from './workers/reload-messages.ts'
import { createWorkerBus } from './workers/worker-bus.ts'
import { createWorkerMetrics } from './workers/worker-metrics.ts'

// By itself V8 lets a busy heap grow to four times what lives in it before it collects: 150 MB more under a flood of
// requests, of which 40 are in use. Twice costs a tenth of the processor time of uncached lists of 100 objects, and none of
// single objects and hits that could be measured.
const growHeapBy = (percent: number): void => setFlagsFromString(`--heap-growing-percent=${percent}`)
growHeapBy(100)
/** Gateways that hold large answers: one, or while it is replaced two. */
let holding = 0
/** Of a collection that has begun before an answer was over, the answer is in what lives. */
const COLLECTED_MS = 10_000
keepTickShape()
const optimizeAsUsual = optimizeLate()

const shutdown = new AbortController()
const reload = new EventTarget()

const { worker } = cluster
const signals = new Set<string>()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    // A second Ctrl-C does not wait for requests in flight. The first process tells its workers by SIGTERM, beside what a
    // terminal or systemd sends to all, and whichever comes first: to a worker that is the first time still.
    if (worker ? signal === 'SIGINT' && signals.has(signal) : signals.size > 0) process.exit(INTERRUPTED)
    signals.add(signal)
    shutdown.abort(signal)
  })
}
if (!worker) onScriptShellEnd(() => shutdown.abort('SIGTERM'))
process.on('SIGHUP', () => reload.dispatchEvent(new Event('reload')))

if (worker) answerHeartbeat(worker)

async function ask(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises')
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return await terminal.question(question, { signal: shutdown.signal })
  } finally {
    terminal.close()
  }
}

process.exitCode = await run(process.argv.slice(2), {
  directory: process.cwd(),
  environment: process.env,
  shutdown: shutdown.signal,
  reload,
  ...(cluster.isPrimary && {
    runWorkers: (count: number) => {
      optimizeAsUsual()
      return runWorkers({
        cluster,
        count,
        shutdown: shutdown.signal,
        reload,
        print: (line) => console.error(printable(line)),
      })
    },
  }),
  ...(worker && {
    shareBus: (local, onError) => createWorkerBus(worker, local, { onError }),
    shareMetrics: (onError) => createWorkerMetrics(worker, { onError }),
    joinReloads: (part) => joinReloads(worker, part),
    tellLogSettings: ({ level, format }) =>
      send<LogMessage>(worker, { vinyasa: 'log', settings: { level, format } }),
    reachedBrokers: reachedByWorkers(process.env, (message) => send(worker, message)),
  }),
  ...(process.stdin.isTTY && { ask }),
  onServing: optimizeAsUsual,
  // What is held of a large answer would stand beside as much garbage, of itself and of those before it.
  onLargeAnswers(areHeld) {
    holding += areHeld ? 1 : -1
    if (areHeld) growHeapBy(30)
    else backgroundClock.setTimeout(() => holding === 0 && growHeapBy(100), COLLECTED_MS)
  },
  print: (text) => console.log(text),
  printError: (text) => console.error(text),
})
// The channel to the first process would keep a worker alive.
cluster.worker?.disconnect()
