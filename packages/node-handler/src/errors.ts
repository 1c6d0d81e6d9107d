import type { GraphQLError } from 'graphql'
import { createGraphQLError } from 'graphql-yoga'

/** The body was read before the handler was called, and is not in `req.body`, where Yoga looks for it. */
export function bodyAlreadyRead(): GraphQLError {
  return createGraphQLError(
    'The request body was read before the GraphQL handler was called. Set the parsed body as `req.body`, or call the handler before the body parser.',
    { extensions: { code: 'REQUEST_BODY_ALREADY_READ', http: { status: 400 } } },
  )
}

/** The request violates the GraphQL multipart request specification. */
export function badUploadRequest(reason: string): GraphQLError {
  return createGraphQLError(
    `The multipart request is invalid: ${reason}. Send the parts "operations" and "map" in this order, followed by the files.`,
    { extensions: { code: 'BAD_REQUEST', http: { status: 400 } } },
  )
}

/** A file, or the text before the files, exceeds its byte limit. */
export function uploadTooLarge(what: string, maxBytes: number): GraphQLError {
  return createGraphQLError(`${what} is larger than ${maxBytes} bytes. Send less data.`, {
    extensions: { code: 'REQUEST_ENTITY_TOO_LARGE', http: { status: 413 } },
  })
}

/** The bytes of an upload are not available, for a reason that the client can fix. */
export function unusableUpload(reason: string): GraphQLError {
  return createGraphQLError(reason, { extensions: { code: 'BAD_USER_INPUT' } })
}

/** The connection ended before the body or its files did. */
export function clientLeft(): DOMException {
  return new DOMException('The client left', 'AbortError')
}
