import { createAttachment } from '@vinyasa/base'
import type { Plugin } from 'graphql-yoga'
import { silently } from './request-reads.ts'
import { isBoundedBody, parseJsonBody, type RequestParser } from './json-body.ts'

type RequestParseHook = NonNullable<Plugin['onRequestParse']>

/** Reads the JSON bodies of a plain Yoga server without the stream in which Yoga counts them. */
export interface FrontDoor {
  /** At the cache's own place among the plugins: sees which parser was chosen. */
  readonly onRequestParse: RequestParseHook
  /** Comes after every other plugin, Yoga's size limit among them. */
  readonly last: Plugin & { readonly behaviour: object }
}

export interface FrontDoorOptions {
  /** Yoga's own for JSON bodies; undefined: not known. */
  readonly jsonParser: () => unknown
  /** Whether a plugin behind the cache may choose another parser. */
  readonly isReplaced: () => boolean
}

export function createFrontDoor({ jsonParser, isReplaced }: FrontDoorOptions): FrontDoor {
  const parsers = createAttachment<RequestParser>()
  return {
    onRequestParse({ request, requestParser }) {
      if (requestParser && requestParser === jsonParser()) parsers.set(request, requestParser)
    },
    last: {
      // For node-handler, which reads bodies without that stream.
      behaviour: {},
      onRequestParse({ request, serverContext, setRequestParser, fetchAPI }) {
        const parser = parsers.get(request)
        if (!parser || isReplaced()) return
        if (!silently(request, () => isBoundedBody(request, serverContext))) return
        setRequestParser(() => request.text().then((text) => parseJsonBody(text, request, parser, fetchAPI)))
      },
    },
  }
}
