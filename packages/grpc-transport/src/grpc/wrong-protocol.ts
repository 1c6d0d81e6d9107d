const USE_TLS = 'write the endpoint as "https://host:port", or as "host:port" with tls'
const USE_CERTIFICATE = 'set tls.cert and tls.key'
const USE_PLAIN_TEXT = 'write the endpoint as "http://host:port" without tls'

/** Says what a server speaks that begins with something else than HTTP/2; undefined: it may be HTTP/2. */
export function foreignGreeting(bytes: Buffer): string | undefined {
  // A record of TLS: an alert or part of a handshake, with a version that begins with 3.
  if ((bytes[0] === 0x15 || bytes[0] === 0x16) && bytes[1] === 3) return `the server uses TLS; ${USE_TLS}`
  if (!bytes.subarray(0, 5).equals(Buffer.from('HTTP/'))) return undefined
  const [line = ''] = bytes.toString('latin1', 0, 100).split('\r\n')
  return `the server responded with HTTP/1.x ("${line}") instead of gRPC; if the server expects TLS, ${USE_TLS}`
}

/** Says of a connection that was lost before the server's first word what is most likely to be wrong. */
export function explainLoss(error: Error, isTls: boolean, hasConnected: boolean): Error {
  const { code = '' } = error as NodeJS.ErrnoException
  if (isTls) {
    const alert = explainAlert(code)
    if (alert !== undefined) return new Error(alert, { cause: error })
    const isForeign =
      code === 'EPROTO' || /^ERR_SSL_(WRONG_VERSION|PACKET|HTTP|UNKNOWN_PROTOCOL|BAD_RECORD)/.test(code)
    if (isForeign) return new Error(`the server does not use TLS; ${USE_PLAIN_TEXT}`, { cause: error })
    if (code === '' || code === 'ECONNRESET') {
      const known = `if the server requires a client certificate, ${USE_CERTIFICATE}`
      return new Error(
        hasConnected
          ? `the server closed the connection after the TLS handshake; ${known}`
          : `the server aborted the TLS handshake; if the server expects plain text, ${USE_PLAIN_TEXT}; ${known}`,
        { cause: error },
      )
    }
  } else if (hasConnected) {
    return new Error(
      `the server closed the connection without a response; if the server expects TLS, ${USE_TLS}`,
      { cause: error },
    )
  }
  return error
}

/** Says what a server wants that ends a handshake by an alert (RFC 8446, section 6.2), of which OpenSSL has its own words. */
function explainAlert(code: string): string | undefined {
  const [, alert = ''] = /^ERR_SSL_.*_ALERT_(.*)$/.exec(code) ?? []
  if (alert === 'CERTIFICATE_REQUIRED') return `the server requires a client certificate; ${USE_CERTIFICATE}`
  if (alert === 'HANDSHAKE_FAILURE')
    return `the server refused the TLS handshake; if the server requires a client certificate, ${USE_CERTIFICATE}`
  return /^(?:BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_|UNKNOWN_CA|ACCESS_DENIED)/.test(alert)
    ? `the server rejected a missing or invalid client certificate (${alert.toLowerCase().replaceAll('_', ' ')}); set tls.cert and tls.key to a certificate that the server accepts`
    : undefined
}
