/**
 * The context as the resolvers of one fragment see it: `context.request.signal` is the fragment's own, so that the
 * fragment's calls can be cancelled without touching the others'. Everything else, writes included, is the original.
 */
export function withSignal(contextValue: unknown, signal: AbortSignal): unknown {
  const request = requestOf(contextValue)
  if (!request) return contextValue
  const ownRequest = overlay(request, 'signal', signal)
  return overlay(contextValue as object, 'request', ownRequest)
}

/** The Request that Yoga puts into the context. */
export function requestOf(contextValue: unknown): { readonly signal?: AbortSignal } | undefined {
  if (typeof contextValue !== 'object' || contextValue === null || !('request' in contextValue)) {
    return undefined
  }
  const { request } = contextValue
  return typeof request === 'object' && request !== null ? request : undefined
}

function overlay<Target extends object>(target: Target, name: string, value: unknown): Target {
  return new Proxy(target, {
    get(_, key) {
      if (key === name) return value
      // With the target as receiver: the getters and methods of a Request work on the real one only.
      const property: unknown = Reflect.get(target, key, target)
      return name === 'signal' && typeof property === 'function' ? property.bind(target) : property
    },
  })
}
