import type { IncomingMessage } from 'node:http'

/** The full URL of a request, as Yoga's own door builds it. */
export function urlOf({ headers, socket, url }: IncomingMessage): string {
  const protocol = 'encrypted' in socket && socket.encrypted ? 'https' : 'http'
  return `${protocol}://${headers.host || hostOf(socket)}${url || '/graphql'}`
}

/** HTTP/1.0 clients may send no Host. */
function hostOf({ localAddress, localPort }: IncomingMessage['socket']): string {
  const plain = localAddress && !localAddress.includes('::') && !localAddress.includes('ffff')
  return plain ? `${localAddress}:${localPort || 80}` : 'localhost'
}
