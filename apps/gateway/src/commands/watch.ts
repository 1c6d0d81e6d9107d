import { watch as watchPaths } from 'chokidar'

export interface WatchOptions {
  readonly paths: readonly string[]
  /** Called once after each burst of changes. */
  readonly onChange: () => void
  /** Quiet needed after a change, as editors write in several steps. Default 100 ms. */
  readonly debounceMs?: number | undefined
}

/** Watches files and folders; the returned function stops it. */
export function watchFiles({ paths, onChange, debounceMs = 100 }: WatchOptions): () => Promise<void> {
  const watcher = watchPaths([...paths], { ignoreInitial: true, ignored: /node_modules/ })
  let timer: NodeJS.Timeout | undefined
  watcher.on('all', () => {
    clearTimeout(timer)
    timer = setTimeout(onChange, debounceMs)
  })
  return async () => {
    clearTimeout(timer)
    await watcher.close()
  }
}
