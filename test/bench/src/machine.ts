import { cpus } from 'node:os'

/** The day, Node's version and the processors, as a section of RESULTS.md begins. */
export function machineOf(): string {
  const day = new Date().toISOString().slice(0, 10)
  return `${day}, Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}`
}
