import type { GraphQLError } from 'graphql'
import { createGraphQLError } from 'graphql-yoga'

/** The body of a request has more bytes than `maxBodyBytes` allows. */
export function bodyTooLarge(maxBodyBytes: number): GraphQLError {
  return createGraphQLError(
    `The request body has more than ${maxBodyBytes} bytes. Send a smaller one, or ask for a higher limit.`,
    { extensions: { code: 'REQUEST_ENTITY_TOO_LARGE', http: { status: 413 } } },
  )
}

/** Somebody has read the body before the handler was called, and has not put it into `req.body`, where Yoga looks. */
export function bodyAlreadyRead(): GraphQLError {
  return createGraphQLError(
    'The request body was read before the GraphQL handler was called. Set the parsed body as `req.body`, or call the handler before what reads bodies.',
    { extensions: { code: 'REQUEST_BODY_ALREADY_READ', http: { status: 400 } } },
  )
}

/** `maxBodyBytes` is not a number of bytes. */
export function invalidMaxBodyBytes(given: unknown): TypeError {
  return new TypeError(
    `createNodeHandler: maxBodyBytes is ${String(given)}; expected a whole number of bytes, 0 or more, or undefined for Yoga's own limit.`,
  )
}
