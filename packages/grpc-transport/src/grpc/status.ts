import { ErrorCode } from '../http2/codes.ts'
import type { HeaderList } from '../http2/hpack-decoder.ts'
import { GrpcCallError, STATUS_NAMES, type StatusName } from '../status.ts'

/** Reads how a call ended off `grpc-status` and what goes with it, else off the response; undefined: well. */
export function readStatus(trailers: HeaderList, response: HeaderList): GrpcCallError | undefined {
  const code = trailers.get('grpc-status')
  if (code === '0') return undefined
  if (code === undefined) return httpStatusError(response)
  const [details] = (trailers.get('grpc-status-details-bin') ?? '').split(',')
  const message = shorten(decodeMessage(trailers.get('grpc-message') ?? ''))
  const status = /^\d+$/.test(code) ? STATUS_NAMES[Number(code)] : undefined
  return new GrpcCallError(status ?? 'UNKNOWN', message, {
    details: details ? Buffer.from(details, 'base64') : undefined,
  })
}

/** Servers repeat in it what they were asked, however long: neither logs nor clients are to carry that on. */
const MAX_MESSAGE_LENGTH = 2_048

function shorten(message: string): string {
  if (message.length <= MAX_MESSAGE_LENGTH) return message
  return `${message.slice(0, MAX_MESSAGE_LENGTH)}… (${message.length} characters)`
}

/** Percent-decodes what is percent-encoded and leaves the rest, as gRPC asks of readers. */
function decodeMessage(message: string): string {
  if (!message.includes('%')) return message
  const bytes = message.replaceAll(/%([0-9a-fA-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return Buffer.from(bytes, 'latin1').toString()
}

const BY_HTTP_STATUS: Readonly<Record<number, StatusName>> = {
  400: 'INTERNAL',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'UNIMPLEMENTED',
  429: 'UNAVAILABLE',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'UNAVAILABLE',
}

/** Returns the error of a reply without `grpc-status`, by gRPC's "HTTP to gRPC Status Code Mapping". */
export function httpStatusError(headers: HeaderList): GrpcCallError {
  const status = Number(headers.get(':status'))
  const type = headers.get('content-type')
  return new GrpcCallError(
    BY_HTTP_STATUS[status] ?? 'UNKNOWN',
    `the reply has HTTP status ${status}${type === undefined ? '' : ` and content-type ${type}`} but no grpc-status`,
  )
}

const BY_RST_CODE: Readonly<Record<number, readonly [StatusName, string]>> = {
  [ErrorCode.NO_ERROR]: ['INTERNAL', 'the server ended the call without a gRPC status'],
  [ErrorCode.REFUSED_STREAM]: ['UNAVAILABLE', 'the server refused the call'],
  [ErrorCode.CANCEL]: ['CANCELLED', 'the server cancelled the call'],
  [ErrorCode.ENHANCE_YOUR_CALM]: [
    'RESOURCE_EXHAUSTED',
    'the server rejected the call because this client causes excessive load (HTTP/2 error ENHANCE_YOUR_CALM)',
  ],
  [ErrorCode.INADEQUATE_SECURITY]: [
    'PERMISSION_DENIED',
    'the server requires a more secure connection (HTTP/2 error INADEQUATE_SECURITY); use TLS 1.2 or later with a cipher suite that HTTP/2 allows',
  ],
}

/** Returns the error that an RST_STREAM means. */
export function resetError(code: number): GrpcCallError {
  const [status, message] = BY_RST_CODE[code] ?? [
    'INTERNAL' as const,
    `the server reset the stream with HTTP/2 error code ${code}`,
  ]
  return new GrpcCallError(status, message, { wasSent: code !== ErrorCode.REFUSED_STREAM })
}

/**
 * Longest timeout in milliseconds that is sent as `grpc-timeout`. Longer timeouts are not sent, because peers with
 * 32-bit timers, such as Node, would treat them as expired. It is a multiple of one second, because timeouts of this
 * length are sent in seconds.
 */
export const LONGEST_TIMEOUT_MS: number = 2_147_483_000

/** Milliseconds as `grpc-timeout` has them, at most eight digits and a unit; undefined for what is not to be sent. */
export function formatTimeout(ms: number): string | undefined {
  if (ms > LONGEST_TIMEOUT_MS) return undefined
  const count = Math.max(1, Math.ceil(ms))
  return count < 100_000_000 ? `${count}m` : `${Math.ceil(ms / 1_000)}S`
}
