import {
  create,
  fromBinary,
  fromJson,
  toBinary,
  toJson,
  type DescMessage,
  type JsonValue,
  type Registry,
} from '@bufbuild/protobuf'
import { AnySchema, type Any } from '@bufbuild/protobuf/wkt'
import { isRecord } from '@vinyasa/core'
import { withoutBigInts } from '@vinyasa/source-kit'
import type { GraphQLError } from 'graphql'
import { isWellKnown } from '../contract/well-known.ts'
import { badValueError, reasonOf, withCause } from '../errors.ts'

/**
 * A message that the protos define is its JSON beside `@type`; one without JSON, and any other, keeps its type and its
 * bytes, as `value`. What could not be sent back as it is read is an error, which GraphQL tells at the place of the value.
 */
export function decodeAny(bytes: Uint8Array, registry: Registry): JsonValue | GraphQLError {
  const any = fromBinary(AnySchema, bytes)
  const { typeUrl, value } = any
  if (typeUrl === '' && value.length === 0) return {}
  const raw = { '@type': typeUrl, value: Buffer.from(value).toString('base64') }
  const known = messageOf(typeUrl, registry)
  if (!known) return raw
  try {
    return toJson(AnySchema, any, { registry })
  } catch (cause) {
    if (isToldByBytes(known, value)) return raw
    return withCause(
      badValueError(
        `The backend sent a google.protobuf.Any of type ${typeUrl}, which cannot be converted to JSON: ${reasonOf(cause)}`,
      ),
      cause,
    )
  }
}

/** @throws Error for what is no `Any` */
export function encodeAny(value: unknown, registry: Registry): Uint8Array {
  return toBinary(AnySchema, toAny(withSlash(withoutBigInts(value) as JsonValue), registry))
}

/** C++ and Java unpack no URL without a slash. */
function withSlash(json: JsonValue): JsonValue {
  const type = isRecord(json) ? json['@type'] : undefined
  if (typeof type !== 'string' || type === '' || type.includes('/')) return json
  return { ...(json as object), '@type': `type.googleapis.com/${type}` }
}

function toAny(json: JsonValue, registry: Registry): Any {
  const raw = rawAny(json)
  const known = raw && messageOf(raw.typeUrl, registry)
  if (raw && !known) return raw
  try {
    const any = fromJson(AnySchema, json, { registry })
    // The URL's own beginning says who may tell what the message is.
    if (any.typeUrl !== '') any.typeUrl = (json as { '@type': string })['@type']
    return any
  } catch (error) {
    if (raw && known && isToldByBytes(known, raw.value)) return raw
    throw error
  }
}

function messageOf(typeUrl: string, registry: Registry): DescMessage | undefined {
  return registry.getMessage(typeUrl.slice(typeUrl.lastIndexOf('/') + 1))
}

/** Whether bytes beside the type can mean nothing but the message: its JSON has no `value`, and the bytes are of it. */
function isToldByBytes(message: DescMessage, bytes: Uint8Array): boolean {
  const hasValue = message.fields.some(({ name, jsonName }) => name === 'value' || jsonName === 'value')
  if (hasValue || isWellKnown(message.typeName)) return false
  try {
    fromBinary(message, bytes)
    return true
  } catch {
    return false
  }
}

/** What is read where the message is not known; undefined if it is anything else. */
function rawAny(json: JsonValue): Any | undefined {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined
  const { '@type': typeUrl, value = '', ...rest } = json
  if (typeof typeUrl !== 'string' || typeof value !== 'string' || Object.keys(rest).length > 0)
    return undefined
  if (!Object.hasOwn(json, 'value')) return undefined
  const bytes = Buffer.from(value, 'base64')
  return bytes.toString('base64') === value ? create(AnySchema, { typeUrl, value: bytes }) : undefined
}
