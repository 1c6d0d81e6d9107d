/**
 * The context as the resolvers of one fragment see it: `context.request.signal` is the fragment's own, so that the
 * fragment's calls can be cancelled without touching the others'. Everything else, writes included, is the original.
 *
 * @param signalOf Makes the signal; called when somebody looks at it.
 */
export function withSignal(contextValue: unknown, signalOf: () => AbortSignal): unknown {
  const request = requestOf(contextValue)
  if (!request) return contextValue
  let ownRequest: object | undefined
  // Both places where sources look: `context.signal` is for whoever ends a part of an operation early.
  return overlay(contextValue as object, (key) => {
    if (key === 'signal') return signalOf
    return key === 'request' ? () => (ownRequest ??= requestWith(request, signalOf)) : undefined
  })
}

/** The Request that Yoga puts into the context. */
export function requestOf(contextValue: unknown): { readonly signal?: AbortSignal } | undefined {
  if (typeof contextValue !== 'object' || contextValue === null || !('request' in contextValue)) {
    return undefined
  }
  const { request } = contextValue
  return typeof request === 'object' && request !== null ? request : undefined
}

function requestWith(request: object, signalOf: () => AbortSignal): object {
  return overlay(request, (key) => (key === 'signal' ? signalOf : undefined), true)
}

/** @param own Gives what takes the place of a property. */
function overlay<Target extends object>(
  target: Target,
  own: (key: PropertyKey) => (() => unknown) | undefined,
  bindsMethods: boolean = false,
): Target {
  return new Proxy(target, {
    get(_, key) {
      const replaced = own(key)
      if (replaced) return replaced()
      // With the target as receiver: the getters and methods of a Request work on the real one only.
      const property: unknown = Reflect.get(target, key, target)
      return bindsMethods && typeof property === 'function' ? property.bind(target) : property
    },
  })
}
