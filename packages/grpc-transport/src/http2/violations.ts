import { ErrorCode, Http2ProtocolError } from './codes.ts'

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
