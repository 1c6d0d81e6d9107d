import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'
import { createTrustedProxies, type TrustedProxies } from '../http/trusted-proxies.ts'

/** The address that a request came from, kept with it on every way that it takes. */
export interface ClientAddress {
  note(request: IncomingMessage): void
  of(headers: Headers): string
}

/** Returns what names the client of a request, wherever one client has a share of something: by its address. */
export function clientsBy(proxies: Pick<TrustedProxies, 'addressOf'>): (request: IncomingMessage) => string {
  return (request) => networkOf(proxies.addressOf(request))
}

/**
 * Sockets hand on the headers of the request that opened them, and live queries those of theirs: the address goes along
 * as a header whose name nobody outside of this process knows.
 */
export function createClientAddress(trustProxy: boolean | readonly string[] = false): ClientAddress {
  const header = `x-client-address-${randomBytes(16).toString('hex')}`
  const clientOf = clientsBy(createTrustedProxies(trustProxy))
  return {
    note(request) {
      const address = clientOf(request)
      request.headers[header] = address
      request.rawHeaders.push(header, address)
    },
    of: (headers) => headers.get(header) ?? 'unknown',
  }
}

/**
 * Returns the first 64 bits of an address of IPv6, as a client has all addresses behind them; others as they
 * are.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const [plain = ''] = address.split('%')
  if (!isIPv6(plain)) return address
  const [before = '', after] = plain.split('::')
  const head = before === '' ? [] : before.split(':')
  const tail = after === undefined || after === '' ? [] : after.split(':')
  const zeros = after === undefined ? 0 : Math.max(0, 8 - head.length - tail.length)
  const groups = [...head, ...Array<string>(zeros).fill('0'), ...tail]
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
