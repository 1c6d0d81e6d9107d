import type { Plugin } from 'graphql-yoga'
import { after } from '../../index.ts'
import type { Behaviour, EndpointAlias, ReceivedParams } from '../behaviour.ts'
import { notModified } from '../not-modified.ts'

type Hooks<Name extends keyof Plugin> = Required<Pick<Plugin, Name>>
type RequestPayload = Parameters<NonNullable<Plugin['onRequest']>>[0]
type Context = Record<string, unknown>

/** Returns the hooks that do in every Yoga server what the behaviour does for requests in node-handler. */
export function hooksOf(behaviour: Behaviour): Plugin {
  const { alias, receive, context, respond } = behaviour
  return {
    ...((alias || receive) && requestHooks(behaviour)),
    ...parseHooks(behaviour),
    ...paramsHooks(behaviour),
    ...(context && { onContextBuilding: (payload) => void context(payload.context as Context) }),
    ...(respond && responseHooks(behaviour)),
  }
}

function requestHooks(behaviour: Behaviour): Hooks<'onRequest'> {
  const { alias } = behaviour
  return {
    onRequest(payload) {
      behaviour.receive?.(payload.request, payload.serverContext as unknown as Context)
      if (alias) enterAlias(alias, payload)
    },
  }
}

/** Changes the path of `POST` requests to the alias into the endpoint. Other methods get 405. */
export function enterAlias(alias: EndpointAlias, payload: RequestPayload): void {
  const { request, url, fetchAPI, setRequest, endResponse, serverContext } = payload
  const { path, endpoint } = alias.paths()
  if (!request.url.includes(path)) return
  const target = new fetchAPI.URL(request.url, 'http://localhost')
  if (target.pathname !== path) return
  if (request.method !== 'POST') {
    endResponse(new fetchAPI.Response(null, { status: 405, headers: { Allow: 'POST' } }))
    return
  }
  target.pathname = endpoint
  setRequest(withUrl(request, target.toString()))
  // Yoga's routing reads both. `url` is created from the request unless an earlier hook has read it.
  if (url instanceof fetchAPI.URL) url.pathname = endpoint
  if (serverContext) alias.enter(serverContext)
}

/** Returns the request with another URL. It is a proxy, because the body can be read only once. */
function withUrl(request: Request, url: string): Request {
  return new Proxy(request, {
    get(target, key) {
      if (key === 'url') return url
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function parseHooks({ checkRequest, wrapParser }: Behaviour): Plugin {
  if (!checkRequest && !wrapParser) return {}
  return {
    onRequestParse({ request, requestParser, setRequestParser, serverContext }) {
      const context = serverContext as unknown as Context
      return after(checkRequest?.(request, context), () => {
        if (!wrapParser || !requestParser) return undefined
        setRequestParser(wrapParser(requestParser as never, request, context) as never)
        return undefined
      })
    },
  }
}

function paramsHooks({ changeParams, admit }: Behaviour): Plugin {
  if (!changeParams && !admit) return {}
  return {
    onParams({ params, request, context, setParams }) {
      return after(changeParams?.(params as ReceivedParams, request), (changed) => {
        if (changed) setParams(changed as never)
        return admit?.(changed ?? (params as ReceivedParams), request, context as unknown as Context)
      })
    },
  }
}

function responseHooks(behaviour: Behaviour): Hooks<'onResponse'> {
  return {
    onResponse({ request, response, serverContext, setResponse, fetchAPI }) {
      const context = serverContext as unknown as Context
      if (behaviour.respond?.({ request, context }, response) === 304)
        setResponse(notModified(response, fetchAPI))
    },
  }
}
