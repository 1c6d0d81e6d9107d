import { keyed } from '@vinyasa/base'
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

type Viewed = 'request' | 'params' | 'req' | 'sources'

const isViewed = (key: string | symbol): key is Viewed =>
  key === 'request' || key === 'params' || key === 'req' || key === 'sources'

/** A view of a GraphQL context that tells what is read of the request, and of who asks. */
export function recordedContext(context: object, reads: Reads): object {
  const behind: Behind = { context, reads }
  const plain = context as Context
  const viewOf = keyed((key: Viewed): object => {
    const value = plain[key] as object
    switch (key) {
      case 'request':
        return recordedRequest(value as Request, reads)
      case 'params':
        // The operation and its variables are asked for by everybody who shares the answer.
        return recordedObject(value, 'context.params', reads, (name) => name !== 'extensions')
      case 'req':
        return recordedObject(value, 'context.req', reads)
      case 'sources':
        return sourcesForContext(value, view)
    }
  })

  const view: object = new Proxy(context, {
    get(_target, key) {
      if (key === BEHIND) return behind
      const value = plain[key]
      if (key === 'auth') reads.token()
      return isObject(value) && isViewed(key) ? viewOf(key) : value
    },
  })
  return view
}

/** Returns the context behind a view, and the reads that it tells; undefined for what is no view. */
export function behindView(context: unknown): Behind | undefined {
  return isObject(context) ? (context as { readonly [BEHIND]?: Behind })[BEHIND] : undefined
}
