/** Anything the kit can close: what `startX` functions return, and most servers and clients. */
export type Closable =
  | { [Symbol.asyncDispose](): PromiseLike<void> }
  | { [Symbol.dispose](): void }
  | { close(): unknown }
  | (() => unknown)

export interface Disposables {
  /** Keeps the resource until disposal and hands it back. */
  use<T extends Closable>(resource: T): T
  /** Closes everything, last opened first. One failure does not keep the others open. Safe to call twice. */
  dispose(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Collects what a test opens. With one of vitest's hooks (`afterAll`, `afterEach`, `onTestFinished`)
 * it disposes by itself: `const disposables = createDisposables(onTestFinished)`.
 */
export function createDisposables(hook?: (dispose: () => Promise<void>) => void): Disposables {
  const resources: Closable[] = []

  async function dispose(): Promise<void> {
    const errors: unknown[] = []
    for (let resource = resources.pop(); resource; resource = resources.pop()) {
      try {
        await close(resource)
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length === 1) throw errors[0]
    if (errors.length > 1) throw new AggregateError(errors, `${errors.length} resources failed to close`)
  }

  hook?.(dispose)
  return {
    use(resource) {
      resources.push(resource)
      return resource
    },
    dispose,
    [Symbol.asyncDispose]: dispose,
  }
}

async function close(resource: Closable): Promise<void> {
  if (typeof resource === 'function') await resource()
  else if (Symbol.asyncDispose in resource) await resource[Symbol.asyncDispose]()
  else if (Symbol.dispose in resource) resource[Symbol.dispose]()
  else await resource.close()
}
