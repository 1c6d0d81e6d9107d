import { fileURLToPath } from 'node:url'
import { freePort, spawnProcess, waitUntil } from '@vinyasa/test-kit'

export interface StartedGateway {
  readonly url: string
  readonly pid: number
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts the built gateway on a config file, in the production preset, and waits until it is ready, whatever it logs. */
export async function startGateway(
  config: string,
  env: Readonly<Record<string, string>>,
): Promise<StartedGateway> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const program = fileURLToPath(new URL('../../../apps/gateway/dist/main.js', import.meta.url))
  const started = await spawnProcess({
    command: process.execPath,
    args: [program, 'start', '--config', config, '--preset', 'production', '--port', String(port)],
    env: { ...env, NODE_ENV: 'production' },
  })
  try {
    await waitUntil(async () => (await fetch(`${url}/health/ready`).catch(() => undefined))?.ok, {
      timeoutMs: 60_000,
      awaited: `readiness of ${url}`,
    })
  } catch (error) {
    await started[Symbol.asyncDispose]()
    throw new Error(`A gateway did not start: ${started.output()}`, { cause: error })
  }
  // It has nothing to bring to an end.
  return { url, pid: started.pid, [Symbol.asyncDispose]: async () => void (await started.kill('SIGKILL')) }
}
