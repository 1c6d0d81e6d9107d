import { boundedFetch } from '@vinyasa/core'
import { ConfigError, messageOf } from '../errors.ts'

export const HTML = 'an HTML page'
export const GIVE_DOCUMENT =
  'pass the URL of the OpenAPI document itself (often /openapi.json or /swagger.json)'

/** Says what is at an address where no gRPC server described itself, and what to give in its place. */
export async function whatIsThere(endpoint: string, error: unknown): Promise<ConfigError> {
  const because = (text: string): ConfigError => new ConfigError(`init: ${text}`, { cause: error })
  const chain = causesOf(error)
  // A web site's 404 is told as UNIMPLEMENTED too.
  const isOfGrpc = !chain.some(({ message }) => /but no grpc-status/.test(message))
  if (isOfGrpc && chain.some(({ status }) => status === 'UNIMPLEMENTED'))
    return because(
      `the gRPC server at ${endpoint} has no reflection service (UNIMPLEMENTED); enable reflection, or pass its .proto files or a descriptor set with --endpoint ${endpoint}`,
    )
  const page =
    /^[a-z]+:(?!\/\/)/i.test(endpoint) && !/^[^:]+:\d+$/.test(endpoint) ? undefined : await pageAt(endpoint)
  if (page !== undefined)
    return because(
      `gRPC reflection failed at ${endpoint}, and an HTTP request returned ${page}; ${GIVE_DOCUMENT}, or the address of the gRPC server`,
    )
  const codes = chain.map(({ code }) => String(code))
  const missing = codes.find((code) => /^(ECONNREFUSED|ENOENT|ENOTFOUND|EAI_AGAIN)$/.test(code))
  if (missing !== undefined)
    return because(`cannot connect to ${endpoint} (${missing}); start the server, or correct the address`)
  const untrusted = codes.find((code) => /CERT|ISSUER|SELF_SIGNED|ALTNAME/.test(code))
  if (untrusted !== undefined)
    return because(
      `the certificate of ${endpoint} was rejected (${untrusted}); replace the certificate, set NODE_EXTRA_CA_CERTS to the path of the CA certificate, or write a config with tls: { ca: … }`,
    )
  return because(messageOf(error))
}

function causesOf(error: unknown) {
  const chain: (Error & { readonly code?: unknown; readonly status?: unknown })[] = []
  for (let one = error; one instanceof Error && chain.length < 10; one = one.cause) chain.push(one)
  return chain
}

/** What a web server has there: an HTML page, or something of another media type. */
export async function pageAt(endpoint: string): Promise<string | undefined> {
  const url = /^https?:\/\//i.test(endpoint) ? endpoint : `http://${endpoint}`
  try {
    const { status, headers } = await boundedFetch(url, { maxBytes: 0, signal: AbortSignal.timeout(3_000) })
    const type = headers.get('content-type')?.split(';')[0] ?? 'a response without a media type'
    return type === 'text/html' ? HTML : `${type} (status ${status})`
  } catch {
    return undefined
  }
}
