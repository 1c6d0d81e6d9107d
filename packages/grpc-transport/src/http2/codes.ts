/** Why a stream or a connection ends. Source: RFC 9113, section 7. */
export const ErrorCode = {
  NO_ERROR: 0,
  PROTOCOL_ERROR: 1,
  INTERNAL_ERROR: 2,
  FLOW_CONTROL_ERROR: 3,
  STREAM_CLOSED: 5,
  FRAME_SIZE_ERROR: 6,
  REFUSED_STREAM: 7,
  CANCEL: 8,
  COMPRESSION_ERROR: 9,
  ENHANCE_YOUR_CALM: 11,
  INADEQUATE_SECURITY: 12,
} as const

/** The peer broke a rule of HTTP/2, which ends the connection. */
export class Http2ProtocolError extends Error {
  override name = 'Http2ProtocolError'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** @throws when a frame is not as RFC 9113, section 6 has it */
export function wants(isRight: boolean, type: number): void {
  if (!isRight)
    throw new Http2ProtocolError(
      ErrorCode.PROTOCOL_ERROR,
      `the server sent a malformed HTTP/2 frame of type ${type}`,
    )
}

export function unexpected(type: number): Http2ProtocolError {
  return new Http2ProtocolError(
    ErrorCode.PROTOCOL_ERROR,
    `the server sent an unexpected HTTP/2 frame of type ${type}`,
  )
}

/** The server sent more, or allows more, than a window holds (RFC 9113, section 5.2). */
export function flowError(): Http2ProtocolError {
  return new Http2ProtocolError(ErrorCode.FLOW_CONTROL_ERROR, 'the server violated HTTP/2 flow control')
}

/** A header block cannot be read (RFC 7541). */
export function wrongCode(what: string): Http2ProtocolError {
  return new Http2ProtocolError(
    ErrorCode.COMPRESSION_ERROR,
    `the server sent an invalid HPACK header block: ${what}`,
  )
}
