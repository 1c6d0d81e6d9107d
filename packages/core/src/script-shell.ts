const CHECK_MS = 500

/**
 * Calls back once when the shell of a package manager's script ends. On SIGTERM, a package manager ends this
 * shell and sends no signal to the script. Processes that were started differently are not watched. The watch
 * does not keep the process running.
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
