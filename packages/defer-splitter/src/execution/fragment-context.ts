/**
 * The context as the resolvers of one fragment see it: `context.request.signal` is the fragment's own, so that the
 * fragment's calls can be cancelled without touching the others'. Everything else, writes included, is the original.
 */
export function withSignal(contextValue: unknown, signal: AbortSignal): unknown {
  const request = requestOf(contextValue)
  if (!request) return contextValue
  // Both places where sources look: `context.signal` is for whoever ends a part of an operation early.
  return overlay(contextValue as object, { request: overlay(request, { signal }), signal })
}

/** The Request that Yoga puts into the context. */
export function requestOf(contextValue: unknown): { readonly signal?: AbortSignal } | undefined {
  if (typeof contextValue !== 'object' || contextValue === null || !('request' in contextValue)) {
    return undefined
  }
  const { request } = contextValue
  return typeof request === 'object' && request !== null ? request : undefined
}

function overlay<Target extends object>(target: Target, own: Readonly<Record<string, unknown>>): Target {
  const isRequest = !('request' in own)
  return new Proxy(target, {
    get(_, key) {
      if (typeof key === 'string' && Object.hasOwn(own, key)) return own[key]
      // With the target as receiver: the getters and methods of a Request work on the real one only.
      const property: unknown = Reflect.get(target, key, target)
      return isRequest && typeof property === 'function' ? property.bind(target) : property
    },
  })
}
