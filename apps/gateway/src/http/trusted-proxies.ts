import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, type Socket } from 'node:net'
import { createAttachment, keyed } from '@vinyasa/core'

/** The proxies whose word on where a request came from is taken. */
export interface TrustedProxies {
  /** Whether whoever connects from an address is a proxy that is trusted. */
  isTrusted(address: string): boolean
  /** Takes away what a client claims to be the word of a proxy, unless one that is trusted sent it. */
  clean(request: IncomingMessage): void
  /** The address of the client, as far as trusted proxies tell. */
  addressOf(request: IncomingMessage): string
}

/** Headers in which proxies say who asks (RFC 7239, and those in use before and beside it). */
const FORWARDED =
  /^(?:forwarded|x-forwarded(?:-.+)?|x-real-ip|x-client-ip|x-cluster-client-ip|true-client-ip|cf-connecting-ip|fastly-client-ip|x-envoy-external-address)$/i

const RANGES: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fe80::/10'],
}

/** Whether a text is an address, a range of them (`10.0.0.0/8`), `loopback` or `private`. */
export function isProxyRange(text: string): boolean {
  if (Object.hasOwn(RANGES, text)) return true
  const [address = '', bits, ...more] = text.split('/')
  const version = isIP(address)
  if (version === 0 || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}

/** `true`: whoever connects is a proxy. */
export function createTrustedProxies(trusted: boolean | readonly string[]): TrustedProxies {
  const list = new BlockList()
  const peerOf = keyed(peerOfSocket, createAttachment<string>())
  for (const range of trusted === true || trusted === false ? [] : trusted) {
    for (const one of RANGES[range] ?? [range]) addTo(list, one)
  }

  function isTrusted(address: string): boolean {
    if (typeof trusted === 'boolean') return trusted
    const version = isIP(address)
    return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6')
  }

  return {
    isTrusted: (address) => isTrusted(plain(address)),
    clean(request) {
      const { headers, rawHeaders } = request
      // Few requests have any, and whom to trust costs more to know.
      let isClean = true
      for (let index = 0; index < rawHeaders.length; index += 2) {
        if (FORWARDED.test(rawHeaders[index] ?? '')) isClean = false
      }
      if (isClean || isTrusted(peerOf(request.socket))) return
      for (const name of Object.keys(headers)) if (FORWARDED.test(name)) delete headers[name]
      request.rawHeaders = rawHeaders.filter((_, index) => !FORWARDED.test(rawHeaders[index & ~1] ?? ''))
    },
    addressOf(request) {
      let address = peerOf(request.socket)
      if (!isTrusted(address)) return address
      const told = [request.headers['x-forwarded-for'] ?? []].flat().join(',')
      const addresses = told.split(',').map((text) => plain(text.trim()))
      // Each proxy adds who asked it at the end: the last one that is no proxy of ours is the client.
      while (isTrusted(address)) {
        const before = addresses.pop()
        if (before === undefined || isIP(before) === 0) break
        address = before
      }
      return address
    },
  }
}

function addTo(list: BlockList, range: string): void {
  const [address = '', bits] = range.split('/')
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
  if (bits === undefined) list.addAddress(address, family)
  else list.addSubnet(address, Number(bits), family)
}

/** The address stays the same for the lifetime of a connection. */
function peerOfSocket({ remoteAddress }: Socket): string {
  return plain(remoteAddress ?? '')
}

/** Without a port, brackets, and what IPv4 looks like on a socket of IPv6. */
function plain(text: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1]
  if (bracketed !== undefined) return plain(bracketed)
  const withPort = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1]
  return withPort ?? text.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '')
}
