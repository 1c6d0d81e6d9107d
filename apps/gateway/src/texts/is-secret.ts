import { hash, timingSafeEqual } from 'node:crypto'

/** Whether what was sent is the secret. Digests have one length, so that the comparison tells nothing of the secret's. */
export function isSecret(sent: string, secret: string): boolean {
  return timingSafeEqual(hash('sha256', sent, 'buffer'), hash('sha256', secret, 'buffer'))
}
