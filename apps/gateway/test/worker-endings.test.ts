import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawnProcess, startRestBackend, waitUntil, type SpawnedProcess } from '@vinyasa/test-kit'
import { expect, it, type TestContext } from 'vitest'

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))

/** The status of an answer, over a connection of its own; what became of it where there is none. */
function ask(url: string): Promise<number | string> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json' }
    const outgoing = request(
      url,
      { method: 'POST', headers, agent: new Agent({ keepAlive: false }) },
      (answer) => {
        answer.resume().once('end', () => resolve(answer.statusCode ?? 0))
      },
    )
    outgoing.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    outgoing.end(JSON.stringify({ query: '{ thing }' }))
  })
}

interface Busy {
  readonly gateway: SpawnedProcess
  readonly answer: Promise<number | string>
}

/** Two workers, one of which has a request under way that takes a second; the other has nothing to do. */
async function startBusy({ onTestFinished }: TestContext, delayMs = 1_000): Promise<Busy> {
  const backend = await startRestBackend(() => ({ json: 'there', delayMs }))
  onTestFinished(() => backend.stop())
  const endpoints = [{ name: 'thing', path: '/thing', returnType: 'String' }]
  const rest = { things: { baseUrl: backend.url, healthPath: false, endpoints } }
  const folder = await mkdtemp(join(tmpdir(), 'vinyasa-endings-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'gateway.config.json')
  await writeFile(file, JSON.stringify({ log: { format: 'json' }, rest }))
  const gateway = await spawnProcess({
    command: process.execPath,
    args: [MAIN, 'start', '--config', file, '--port', '0', '--workers', '2'],
    ready: /"url":"(http:[^"]+\/graphql)".*"msg":"gateway ready"/,
    readyTimeoutMs: 60_000,
    group: true,
  })
  onTestFinished(() => gateway[Symbol.asyncDispose]())
  const ready = (): number => gateway.lines.filter((line) => line.includes('gateway ready')).length
  await waitUntil(() => ready() === 2, { timeoutMs: 60_000, awaited: 'both workers' })
  const answer = ask(gateway.ready?.[1] ?? '')
  await waitUntil(() => backend.requests.length === 1, { awaited: 'the request' })
  return { gateway, answer }
}

// They mostly wait, each for processes of its own.
it.concurrent(
  'what one worker has under way is answered though another has ended',
  { timeout: 120_000 },
  async (context) => {
    const { gateway, answer } = await startBusy(context)
    gateway.signal('SIGTERM')
    expect(await answer).toBe(200)
    expect(await gateway.exited).toEqual({ code: 0, signal: null })
  },
)

// A terminal's Ctrl-C and systemd send their signal to the workers too.
it.concurrent.for(['SIGINT', 'SIGTERM'] as const)(
  'what a worker has under way is answered when all processes get %s',
  { timeout: 120_000 },
  async (signal, context) => {
    const { gateway, answer } = await startBusy(context)
    gateway.signalGroup(signal)
    expect(await answer).toBe(200)
    expect(await gateway.exited).toEqual({ code: 0, signal: null })
  },
)

function workersOf({ pid }: SpawnedProcess): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.trim().split(' ').filter(Boolean).map(Number)
}

/** The idle one may have ended. */
function tell(worker: number, signal: NodeJS.Signals): void {
  try {
    process.kill(worker, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

// On a busy machine a worker hears of the signal that the first process sends before it hears of the terminal's own.
it.concurrent('a SIGTERM and then a SIGINT are the same end', { timeout: 120_000 }, async (context) => {
  const { gateway, answer } = await startBusy(context)
  const workers = workersOf(gateway)
  expect(workers).toHaveLength(2)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    for (const worker of workers) tell(worker, signal)
    await gateway.waitForLine(/finishing requests in flight/)
  }
  expect(await answer).toBe(200)
})

it.concurrent('a second Ctrl-C ends requests in flight', { timeout: 120_000 }, async (context) => {
  const { gateway, answer } = await startBusy(context, 60_000)
  gateway.signalGroup('SIGINT')
  await gateway.waitForLine(/finishing requests in flight/)
  gateway.signalGroup('SIGINT')
  expect(await answer).not.toBe(200)
  expect((await gateway.exited).code).toBe(130)
})

it.concurrent(
  'a second Ctrl-C ends the gateway although its first process has not handled the first',
  { timeout: 120_000 },
  async (context) => {
    const { gateway, answer } = await startBusy(context, 60_000)
    process.kill(gateway.pid, 'SIGSTOP')
    gateway.signalGroup('SIGINT')
    await gateway.waitForLine(/finishing requests in flight/)
    gateway.signalGroup('SIGINT')
    expect(await answer).not.toBe(200)
    process.kill(gateway.pid, 'SIGCONT')
    expect((await gateway.exited).code).toBe(130)
  },
)
