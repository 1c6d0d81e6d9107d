import { systemClock } from '@vinyasa/core'
import { watch as watchPaths } from 'chokidar'

/** Quiet needed after a change, as editors write in several steps. */
const QUIET_MS = 100

export interface Watching {
  /** Files and folders to watch too. */
  add(paths: readonly string[]): void
  stop(): Promise<void>
}

/** Watches files and folders; resolves once no change is missed any more. `onChange` is called once after each burst. */
export async function watchFiles(paths: readonly string[], onChange: () => void): Promise<Watching> {
  const watcher = watchPaths([...paths], { ignoreInitial: true, ignored: /node_modules/ })
  let timer: unknown
  watcher.on('all', () => {
    systemClock.clearTimeout(timer)
    timer = systemClock.setTimeout(onChange, QUIET_MS)
  })
  await new Promise<void>((resolve) => void watcher.once('ready', resolve))
  return {
    add: (more) => void watcher.add([...more]),
    async stop() {
      systemClock.clearTimeout(timer)
      await watcher.close()
    },
  }
}
