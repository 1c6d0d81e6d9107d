import type { Reads } from './reads.ts'

/** Methods need the object that they are of. */
function memberOf(target: object, key: string | symbol): unknown {
  const value: unknown = Reflect.get(target, key, target)
  return typeof value === 'function' ? (value.bind(target) as unknown) : value
}

/** A view of an object that tells of whatever is read of it, but for `silent`. */
export function recordedObject(
  target: object,
  name: string,
  reads: Reads,
  isSilent: (key: string) => boolean = () => false,
): object {
  return new Proxy(target, {
    get(_target, key) {
      if (typeof key === 'string' && !isSilent(key)) reads.other(`${name}.${key}`)
      return memberOf(target, key)
    },
  })
}

/** A view of a request that tells which headers are read of it, and whatever else. */
export function recordedRequest(request: Request, reads: Reads): object {
  let headers: object | undefined
  return new Proxy(request, {
    get(_target, key) {
      if (key === 'headers') return (headers ??= recordedHeaders(request.headers, reads))
      if (typeof key === 'string' && key !== 'signal') reads.other(`context.request.${key}`)
      return memberOf(request, key)
    },
  })
}

function recordedHeaders(headers: Headers, reads: Reads): object {
  function ofOne(read: 'get' | 'has'): (name: string) => unknown {
    return (name) => {
      reads.header(String(name).toLowerCase())
      return headers[read](name)
    }
  }
  const get = ofOne('get')
  const has = ofOne('has')
  return new Proxy(headers, {
    get(_target, key) {
      if (key === 'get') return get
      if (key === 'has') return has
      if (key !== Symbol.toStringTag && key !== 'constructor') reads.allHeaders()
      return memberOf(headers, key)
    },
  })
}
