import { recordedObject, recordedRequest } from './recorded-request.ts'
import type { Reads } from './reads.ts'
import { sourcesForContext } from './sources-for-context.ts'

/** Under it a view has what it is a view of. */
const BEHIND = Symbol('vinyasa.recorded-context')

interface Behind {
  readonly context: object
  readonly reads: Reads
}

type Context = Readonly<Record<string | symbol, unknown>>

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** A view of a GraphQL context that tells what is read of the request, and of who asks. */
export function recordedContext(context: object, reads: Reads): object {
  const behind: Behind = { context, reads }
  const plain = context as Context
  const views = new Map<string, object>()

  function viewOf(key: string, target: object, make: () => object): object {
    const known = views.get(key)
    if (known) return known
    const view = make()
    views.set(key, view)
    return view
  }

  const view: object = new Proxy(context, {
    get(_target, key) {
      if (key === BEHIND) return behind
      const value = plain[key]
      if (typeof key === 'symbol' || !isObject(value)) {
        if (key === 'auth') reads.token()
        return value
      }
      switch (key) {
        case 'auth':
          reads.token()
          return value
        case 'request':
          return viewOf(key, value, () => recordedRequest(value as Request, reads))
        case 'params':
          // The operation and its variables are asked for by everybody who shares the answer.
          return viewOf(key, value, () =>
            recordedObject(value, 'context.params', reads, (name) => name !== 'extensions'),
          )
        case 'req':
          return viewOf(key, value, () => recordedObject(value, 'context.req', reads))
        case 'sources':
          return viewOf(key, value, () => sourcesForContext(value, view))
        default:
          return value
      }
    },
  })
  return view
}

/** Returns the context behind a view, and the reads that it tells; undefined for what is no view. */
export function behindView(context: unknown): Behind | undefined {
  return isObject(context) ? (context as { readonly [BEHIND]?: Behind })[BEHIND] : undefined
}
