import {
  create,
  fromBinary,
  fromJson,
  toBinary,
  toJson,
  type JsonValue,
  type Registry,
} from '@bufbuild/protobuf'
import { AnySchema, type Any } from '@bufbuild/protobuf/wkt'
import { MalformedMessageError } from './wire-reader.ts'

/**
 * A message that the protos define is its JSON beside `@type`; any other keeps its type and its bytes, as `value`.
 * @throws MalformedMessageError for what could not be sent back as it is read
 */
export function decodeAny(bytes: Uint8Array, registry: Registry): JsonValue {
  const any = fromBinary(AnySchema, bytes)
  if (any.typeUrl === '' && any.value.length === 0) return {}
  try {
    if (any.typeUrl !== '') return toJson(AnySchema, any, { registry })
  } catch {
    // Its bytes say what its JSON cannot.
  }
  const raw = { '@type': any.typeUrl, value: toBase64(any.value) }
  const again = fromBinary(AnySchema, encodeAny(raw, registry))
  if (toBase64(again.value) !== raw.value)
    throw new MalformedMessageError(`an Any of ${any.typeUrl} holds what is none`)
  return raw
}

/** @throws Error for what is no `Any` */
export function encodeAny(value: unknown, registry: Registry): Uint8Array {
  return toBinary(AnySchema, toAny(value as JsonValue, registry))
}

function toAny(json: JsonValue, registry: Registry): Any {
  const raw = rawAny(json)
  const known = raw && registry.getMessage(raw.typeUrl.replace(/^.*\//, ''))
  if (raw && !known) return raw
  try {
    const any = fromJson(AnySchema, json, { registry })
    // The URL's own beginning says who may tell what the message is.
    if (any.typeUrl !== '') any.typeUrl = (json as { '@type': string })['@type']
    return any
  } catch (error) {
    if (raw) return raw
    throw error
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

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}
