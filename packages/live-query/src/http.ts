import { clientOf } from '@vinyasa/base'
import type { Plugin } from 'graphql-yoga'
import { wantsStream } from './execution/accepted-answers.ts'
import type { AskedOperation, OperationParams } from './execution/passes.ts'

/** On Node: nginx would keep back what comes of a stream until it has some kilobytes. */
export function sendAsItComes(context: object): void {
  const { res } = context as { readonly res?: { setHeader?(name: string, value: string): unknown } }
  res?.setHeader?.('X-Accel-Buffering', 'no')
}

/** Headers of the body that came, which is not the body of later requests. */
const OF_THE_BODY = ['content-encoding', 'transfer-encoding']

export interface EventStreams extends Required<Pick<Plugin, 'onRequest' | 'onRequestParse'>> {
  /** The operation of a context whose client asked for a stream. */
  of(context: object): AskedOperation | undefined
}

interface Asking {
  readonly request: Request
  readonly context: Readonly<Record<string, unknown>>
  params: OperationParams | undefined
}

/** Keeps what was asked over HTTP as it was before hooks made something of it: each run passes them again. */
export function createEventStreams(): EventStreams {
  const askings = new WeakMap<object, Asking>()
  return {
    onRequest({ request, serverContext }) {
      if (!serverContext || !wantsStream(request.headers.get('accept'))) return
      askings.set(serverContext, { request, context: { ...serverContext }, params: undefined })
    },
    onRequestParse({ serverContext }) {
      const asking = askings.get(serverContext)
      if (!asking) return undefined
      return {
        onRequestParseDone({ requestParserResult }) {
          if (!Array.isArray(requestParserResult)) asking.params = requestParserResult as OperationParams
        },
      }
    },
    of(context) {
      const { request, context: before = {}, params } = askings.get(context) ?? {}
      if (!request || !params) return undefined
      const headers = new Headers(Object.fromEntries(request.headers))
      for (const name of OF_THE_BODY) headers.delete(name)
      return { url: request.url, headers, client: clientOf(before), params, context: () => before }
    },
  }
}
