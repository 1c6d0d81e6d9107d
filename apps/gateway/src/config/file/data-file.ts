import { extname } from 'node:path'

/** Whether a config file holds data, not code. */
export function isDataFile(file: string): boolean {
  return ['.yaml', '.yml', '.json'].includes(extname(file))
}
