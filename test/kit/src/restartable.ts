import { freePort } from './free-port.ts'
import type { SpawnedProcess } from './spawned.ts'

/** A server of one's own that is ended, frozen and started again on the port that it had. */
export interface RestartableServer {
  readonly port: number
  /** kill -9: connections break, nothing is saved. */
  kill(): Promise<void>
  /** SIGSTOP: connections stay open, nothing answers. */
  stop(): void
  /** SIGCONT after `stop`. */
  cont(): void
  /** SIGHUP: servers that can read their config anew do. */
  reload(): void
  /** Starts it on the same port again, ending the running one first. */
  restart(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts a server on a free port; whoever disposes of it also has `cleanUp` called. */
export async function startRestartable(
  start: (port: number) => Promise<SpawnedProcess>,
  cleanUp: () => void = () => {},
): Promise<RestartableServer> {
  const port = await freePort()
  let server = await start(port)
  async function kill(): Promise<void> {
    await server.kill('SIGKILL')
  }
  return {
    port,
    kill,
    stop: () => server.stop(),
    cont: () => server.cont(),
    reload: () => server.signal('SIGHUP'),
    async restart() {
      await kill()
      server = await start(port)
    },
    async [Symbol.asyncDispose]() {
      await kill()
      cleanUp()
    },
  }
}
