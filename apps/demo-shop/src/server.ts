import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HttpError } from './errors.ts'
import { createRoutes, type Route } from './routes.ts'
import { createShop } from './shop.ts'
import { keptShop } from './state-file.ts'

const MAX_BODY_BYTES = 65_536

export interface ShopServerOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Where changes are kept over a restart. Default: they are forgotten. */
  readonly stateFile?: string | undefined
}

export interface ShopServer {
  readonly url: string
  /** Lets requests under way finish, and cuts what is left after `graceMs`. */
  close(graceMs?: number): Promise<void>
}

export async function startShopServer({ host, port, stateFile }: ShopServerOptions): Promise<ShopServer> {
  const routes = createRoutes(createShop(stateFile === undefined ? undefined : keptShop(stateFile)))
  const server = createServer((request, response) => void serve(routes, request, response))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const name = host.includes(':') ? `[${host}]` : host
  return {
    url: `http://${name}:${(server.address() as AddressInfo).port}`,
    async close(graceMs = 2_000) {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeIdleConnections()
      const timer = setTimeout(() => server.closeAllConnections(), graceMs)
      await closed
      clearTimeout(timer)
    },
  }
}

async function serve(
  routes: readonly Route[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const { route, params } = match(routes, request.method ?? 'GET', url.pathname)
    const body = await readJson(request)
    send(response, route.status ?? 200, route.answer({ params, query: url.searchParams, body }))
  } catch (error) {
    const status = error instanceof HttpError ? error.status : 500
    send(response, status, { error: error instanceof HttpError ? error.message : 'Something went wrong' })
  }
}

function match(
  routes: readonly Route[],
  method: string,
  path: string,
): { route: Route; params: Record<string, string> } {
  let pathExists = false
  for (const route of routes) {
    const params = paramsOf(route.path, path)
    if (params && route.method === method) return { route, params }
    pathExists ||= params !== undefined
  }
  throw pathExists
    ? new HttpError(405, `${method} is not served here`)
    : new HttpError(404, 'There is nothing here')
}

/** The values of the pattern's variable segments, or undefined when the path is another one. */
function paramsOf(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/')
  const given = path.split('/')
  if (wanted.length !== given.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, segment] of wanted.entries()) {
    const value = given[index] ?? ''
    if (segment.startsWith(':')) params[segment.slice(1)] = decode(value)
    else if (segment !== value) return undefined
  }
  return params
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new HttpError(400, 'The path is not valid percent-encoding')
  }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) throw new HttpError(413, `The body has more than ${MAX_BODY_BYTES} bytes`)
    chunks.push(chunk)
  }
  if (size === 0) return undefined
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    throw new HttpError(400, 'The body is not JSON')
  }
}

function send(response: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}
