import type { CheckSize } from '../http/read-body.ts'
import { isYogasOwn } from '@vinyasa/yoga-internals'
import type { Hook } from '../yoga/yoga-5.ts'

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

/** Undefined when the server has no such hook. */
export function findSizeLimit(hooks: readonly Hook[]): SizeLimit | undefined {
  const hook = hooks.find((candidate) => isYogasOwn(candidate, 'limit the body'))
  if (!hook) return undefined
  const checkHeader = (contentLength: string | null): void => {
    void hook({ request: { headers: { get: () => contentLength }, body: null } })
  }
  return { hook, checkHeader, check: (bytes) => checkHeader(String(bytes)) }
}
