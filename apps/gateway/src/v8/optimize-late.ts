import { setFlagsFromString } from 'node:v8'

interface Threshold {
  readonly flag: string
  /** V8's own default. */
  readonly usual: number
}

/**
 * How long a function runs before V8 compiles it for speed, by the major version of Node that has the flag. Of Node 24, which
 * compiles in smaller steps, a start is as fast either way.
 */
export const THRESHOLDS: Readonly<Record<string, Threshold>> = {
  20: { flag: 'interrupt-budget', usual: 67_584 },
  22: { flag: 'invocation-count-for-turbofan', usual: 3000 },
}

/** Reading 12 MB of YAML still costs what it did; with no compiling at all it would be four times that. */
const LATER = 8

/**
 * Lets V8 compile less of what a start runs: a fifth of a start's processor time goes into code that is fast when the start is
 * over. Gives what ends it.
 */
export function optimizeLate(
  version: string = process.versions.node,
  setFlag: (flag: string) => void = setFlagsFromString,
): () => void {
  const threshold = THRESHOLDS[version.split('.', 1)[0] ?? '']
  if (!threshold) return () => {}
  const { flag, usual } = threshold
  setFlag(`--${flag}=${usual * LATER}`)
  return () => setFlag(`--${flag}=${usual}`)
}
