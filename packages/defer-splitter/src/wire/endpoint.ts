/**
 * The request under another URL. A proxy, as the body can be read only once and must stay where it is.
 */
export function withUrl(request: Request, url: string): Request {
  return new Proxy(request, {
    get(target, key) {
      if (key === 'url') return url
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
