import { systemClock } from '@vinyasa/base'
import { watch as watchPaths } from 'chokidar'

export interface WatchOptions {
  readonly paths: readonly string[]
  /** Called once after each burst of changes. */
  readonly onChange: () => void
  /** Quiet needed after a change, as editors write in several steps. Default 100 ms. */
  readonly debounceMs?: number | undefined
}

export interface Watching {
  /** Files and folders to watch too. */
  add(paths: readonly string[]): void
  stop(): Promise<void>
}

/** Watches files and folders; resolves once no change is missed any more. */
export async function watchFiles(options: WatchOptions): Promise<Watching> {
  const { paths, onChange, debounceMs = 100 } = options
  const watcher = watchPaths([...paths], { ignoreInitial: true, ignored: /node_modules/ })
  let timer: unknown
  watcher.on('all', () => {
    systemClock.clearTimeout(timer)
    timer = systemClock.setTimeout(onChange, debounceMs)
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
