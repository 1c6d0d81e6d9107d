import type { Plugin } from 'graphql-yoga'
import { isBoundedBody, parseJsonBody, type RequestParser } from './json-body.ts'
import type { OwnHooks } from './own-hooks.ts'
import { createSlot } from './slot.ts'

type RequestParseHook = NonNullable<Plugin['onRequestParse']>

/** Reads the JSON bodies of a plain Yoga server without the stream in which Yoga counts them. */
export interface FrontDoor {
  /** At the cache's own place among the plugins: sees which parser was chosen. */
  readonly onRequestParse: RequestParseHook
  /** Comes after every other plugin, Yoga's size limit among them. */
  readonly last: Plugin
}

export interface FrontDoorOptions {
  readonly ownHooks: () => OwnHooks | undefined
  /** Whether a plugin behind the cache may choose another parser. */
  readonly isReplaced: () => boolean
}

export function createFrontDoor({ ownHooks, isReplaced }: FrontDoorOptions): FrontDoor {
  const parsers = createSlot<RequestParser>()
  return {
    onRequestParse({ request, requestParser }) {
      if (requestParser && requestParser === ownHooks()?.jsonParser) parsers.set(request, requestParser)
    },
    last: {
      onRequestParse({ request, serverContext, setRequestParser, fetchAPI }) {
        const parser = parsers.get(request)
        if (!parser || isReplaced() || !isBoundedBody(request, serverContext)) return
        setRequestParser(() => request.text().then((text) => parseJsonBody(text, request, parser, fetchAPI)))
      },
    },
  }
}
