import { fileURLToPath } from 'node:url'
import type { Addresses } from './banner.ts'
import { type Child, type ChildOptions, startChild } from './child.ts'

const app = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

export interface DemoOptions {
  /** 0 takes a free one. */
  readonly ports: { readonly users: string; readonly shop: string; readonly gateway: string }
  readonly host: string
  readonly print: (line: string) => void
  /** Ends the starting; `stop` ends what runs by then. */
  readonly signal: AbortSignal
}

export interface Demo {
  /** Resolves when the gateway answers that it is ready. Rejects when a program ends, or the signal aborts. */
  readonly ready: Promise<Addresses>
  /** Resolves with the first program that ends by itself. */
  readonly broken: Promise<string>
  /** The gateway first, then what it stands in front of. Resolves when all have ended. */
  stop(graceMs: number): Promise<void>
}

/** Starts the gRPC service and the REST API, then the gateway with their addresses. */
export function startDemo({ ports, host, print, signal }: DemoOptions): Demo {
  const children: Child[] = []
  const stopped = new AbortController()
  const ended = AbortSignal.any([signal, stopped.signal])
  let breakDown: (reason: string) => void
  const broken = new Promise<string>((resolve) => {
    breakDown = resolve
  })

  function start(options: Omit<ChildOptions, 'print'>): Child {
    ended.throwIfAborted()
    const child = startChild({ ...options, print })
    children.push(child)
    void child.ended.then((how) => breakDown(`${child.name} ${how}`))
    return child
  }

  async function startAll(): Promise<Addresses> {
    const users = start({
      name: 'users  ',
      script: app('demo-users/dist/main.js'),
      env: { PORT: ports.users, HOST: host },
      ready: /ready: grpc:\/\/(\S+)/,
    })
    const shop = start({
      name: 'shop   ',
      script: app('demo-shop/dist/main.js'),
      env: { PORT: ports.shop, HOST: host },
      ready: /ready: (http:\S+)/,
    })
    const [usersAddress, shopUrl] = await Promise.all([users.address, shop.address])

    const config = app('gateway/gateway.config.ts')
    const gateway = start({
      name: 'gateway',
      script: app('gateway/dist/main.js'),
      args: ['start', '--config', config, '--port', ports.gateway, '--host', host],
      env: { USERS_ADDRESS: usersAddress, SHOP_URL: shopUrl },
      ready: /(http:\/\/[^\s"]+)\/graphql/,
    })
    const gatewayUrl = await gateway.address
    await untilReady(`${gatewayUrl}/health/ready`, ended)
    return { gateway: gatewayUrl, users: usersAddress, shop: shopUrl }
  }

  return {
    ready: Promise.race([startAll(), broken.then((reason) => Promise.reject(new Error(reason)))]),
    broken,
    async stop(graceMs) {
      stopped.abort()
      const [gateway, ...backends] = children.toReversed()
      await gateway?.stop(graceMs)
      await Promise.all(backends.map((backend) => backend.stop(graceMs)))
    },
  }
}

async function untilReady(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const response = await fetch(url, { signal }).catch(() => undefined)
    await response?.body?.cancel()
    if (response?.ok) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
