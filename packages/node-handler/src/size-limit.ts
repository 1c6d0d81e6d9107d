import type { CheckSize } from './read-body.ts'
import type { Hook } from './yoga-internals.ts'

/**
 * Yoga limits the size of a body by sending it through a TransformStream: most of what a small request costs.
 * The hook that does so refuses by Content-Length first, without a stream; asked with the number of bytes that have
 * arrived, it says the same of a body that announced none.
 */
export interface SizeLimit {
  readonly hook: Hook
  /** Throws what Yoga throws for this Content-Length. */
  checkHeader(contentLength: string | null): void
  readonly check: CheckSize
}

/** Finds the hook by its code. One that does not look like it, or is minified, is an ordinary hook: right, and slow. */
export function findSizeLimit(hooks: readonly Hook[]): SizeLimit | undefined {
  const hook = hooks.find((candidate) => {
    const code = Function.prototype.toString.call(candidate)
    return code.includes('limitRequestBodySize(') && /get\(['"]content-length['"]\)/.test(code)
  })
  if (!hook) return undefined
  const checkHeader = (contentLength: string | null): void => {
    void hook({ request: { headers: { get: () => contentLength }, body: null } })
  }
  return { hook, checkHeader, check: (bytes) => checkHeader(String(bytes)) }
}
