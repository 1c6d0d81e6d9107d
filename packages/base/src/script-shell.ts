const CHECK_MS = 500

/**
 * Calls back once when the shell has ended in which a package manager runs this process as a script: a package manager that
 * gets SIGTERM ends that shell, and tells the script nothing. A process that was started otherwise is not watched. The watch
 * keeps no process alive.
 */
export function onScriptShellEnd(onEnd: () => void): void {
  if (process.env['npm_lifecycle_event'] === undefined) return
  const { ppid } = process
  const watched = setInterval(() => {
    if (process.ppid === ppid) return
    clearInterval(watched)
    onEnd()
  }, CHECK_MS).unref()
}
