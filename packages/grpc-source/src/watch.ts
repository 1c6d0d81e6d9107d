import { watch, type FSWatcher } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import type { Clock } from '@vinyasa/base'

/** Long enough for an editor or compiler to finish writing. */
const QUIET_MS = 100

/** Tells of changes of files, also when they are replaced by rename. */
export interface FileWatcher {
  /** Watches these files from now on, and no others. */
  set(files: Iterable<string>): void
  close(): void
}

export function createFileWatcher(
  clock: Clock,
  onChange: () => void,
  onError: (error: unknown) => void,
): FileWatcher {
  const watchers = new Map<string, FSWatcher>()
  let names = new Map<string, Set<string>>()
  let timer: unknown

  function changed(folder: string, file: string | null): void {
    if (file !== null && !names.get(folder)?.has(file)) return
    clock.clearTimeout(timer)
    timer = clock.setTimeout(onChange, QUIET_MS)
  }

  return {
    set(files) {
      names = new Map()
      for (const file of files) {
        const folder = dirname(resolve(file))
        names.set(folder, (names.get(folder) ?? new Set()).add(basename(file)))
      }
      for (const [folder, watcher] of watchers) {
        if (names.has(folder)) continue
        watcher.close()
        watchers.delete(folder)
      }
      for (const folder of names.keys()) {
        if (watchers.has(folder)) continue
        const watcher = watch(folder, { persistent: false }, (_event, file) => changed(folder, file))
        watcher.on('error', onError)
        watchers.set(folder, watcher)
      }
    },
    close() {
      clock.clearTimeout(timer)
      for (const watcher of watchers.values()) watcher.close()
      watchers.clear()
    },
  }
}
