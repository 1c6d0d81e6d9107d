import { GraphQLError } from 'graphql'

/** Limit in characters of what clients wrote; there is an error for each reference. */
const SHOWN = 120

export function tooManyReferences(asked: number, most: number): GraphQLError {
  return badReference(
    `_entities received ${asked} references, but the limit is ${most}; send fewer references`,
  )
}

export function noEntity(typeName: unknown): GraphQLError {
  return badReference(
    typeof typeName === 'string'
      ? `this subgraph does not resolve an entity "${cut(typeName)}"`
      : 'a reference must be an object whose __typename is the name of an entity type',
  )
}

export function lacksKey(typeName: unknown, key: string): GraphQLError {
  return badReference(`a reference to "${cut(String(typeName))}" must have a value for the key "${key}"`)
}

export function doesNotFit(place: string, reason: string): GraphQLError {
  return badReference(`the key of a reference is not valid for Query.${place}; ${cut(reason)}`)
}

function badReference(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT' } })
}

function cut(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}
