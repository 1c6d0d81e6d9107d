import { X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import { GrpcTransportError } from './errors.ts'
import type { TlsOptions } from './endpoint.ts'

/**
 * Creates the TLS context of an endpoint.
 * @throws GrpcTransportError if a certificate or key is not valid PEM. Node itself ignores invalid authorities.
 */
export function createTlsContext(address: string, { ca, cert, key }: TlsOptions): SecureContext {
  try {
    if (ca !== undefined) checkAuthorities(ca)
    return createSecureContext({ ca: pem(ca), cert: pem(cert), key: pem(key) })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new GrpcTransportError(
      `the TLS options of the endpoint "${address}" are invalid: ${reason}; use PEM text or bytes, for example readFileSync("ca.pem"), and a tls.key that matches tls.cert`,
      { cause },
    )
  }
}

function pem(value: string | Uint8Array | undefined): string | Buffer | undefined {
  return value instanceof Uint8Array ? Buffer.from(value) : value
}

const CERTIFICATE =
  /-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END (TRUSTED |X509 )?CERTIFICATE-----/g

function checkAuthorities(ca: string | Uint8Array): void {
  const text = Buffer.from(ca as string).toString('latin1')
  const certificates = text.match(CERTIFICATE)
  if (!certificates) throw new Error('tls.ca contains no certificate')
  for (const [index, certificate] of certificates.entries()) {
    // A trusted certificate has more than X.509 in it: Node reads it.
    if (certificate.startsWith('-----BEGIN TRUSTED')) continue
    try {
      void new X509Certificate(certificate)
    } catch (cause) {
      throw new Error(`certificate ${index + 1} of tls.ca is not a valid X.509 certificate`, { cause })
    }
  }
}
