import type { GraphQLError } from 'graphql'
import { badValueError } from '../errors.ts'
import { wrongValue } from './scalar-codecs.ts'
import type { WireReader } from './wire-reader.ts'

export interface SecondsAndNanos {
  readonly seconds: bigint
  readonly nanos: number
}

const RFC_3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/
const DURATION = /^(-)?(\d{1,12})(?:\.(\d{1,9}))?s$/
const MIN_SECONDS = -62_135_596_800n
const MAX_SECONDS = 253_402_300_799n
const MAX_DURATION = 315_576_000_000n
const MAX_NANOS = 999_999_999

/** Reads a Timestamp or Duration that fills the reader's range. */
export function readTime(reader: WireReader): SecondsAndNanos {
  let seconds = 0n
  let nanos = 0
  while (reader.pos < reader.end) {
    const tag = reader.uint32()
    if (tag === 8) seconds = reader.int64()
    else if (tag === 16) nanos = reader.int32()
    else reader.skip(tag & 7, tag >>> 3)
  }
  return { seconds, nanos }
}

/**
 * RFC 3339 in UTC with as many digits as the value needs (0, 3, 6 or 9). What no Timestamp can be is an error, which
 * GraphQL tells at the place of the value.
 */
export function formatTimestamp({ seconds, nanos }: SecondsAndNanos): string | GraphQLError {
  if (seconds < MIN_SECONDS || seconds > MAX_SECONDS) {
    return badValueError(
      `The backend sent a google.protobuf.Timestamp of ${seconds} seconds since 1970, which is outside the years 1 to 9999; check whether it sends milliseconds instead of seconds`,
    )
  }
  if (nanos < 0 || nanos > MAX_NANOS) {
    return badValueError(
      `The backend sent a google.protobuf.Timestamp of ${seconds} seconds and ${nanos} nanoseconds; the nanoseconds must be from 0 to ${MAX_NANOS}`,
    )
  }
  const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, 19)
  return `${whole}${formatFraction(nanos)}Z`
}

export function parseTimestamp(value: unknown, path: string): SecondsAndNanos {
  if (value instanceof Date && !Number.isNaN(value.getTime()))
    return parseTimestamp(value.toISOString(), path)
  const match = typeof value === 'string' ? RFC_3339.exec(value) : null
  const parsed = match && typeof value === 'string' ? toSeconds(match) : undefined
  if (!match || parsed === undefined || parsed < MIN_SECONDS || parsed > MAX_SECONDS) {
    throw wrongValue(path, 'a date-time such as "2026-01-31T12:00:00Z"', value)
  }
  return { seconds: parsed, nanos: parseFraction(match[7]) }
}

function toSeconds(match: RegExpExecArray): bigint | undefined {
  const [, year, month, day, hour, minute, second, , sign, offsetHours, offsetMinutes] = match
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`
  const millis = Date.parse(text)
  // Date.parse rolls 30 February over to March.
  if (Number.isNaN(millis) || new Date(millis).toISOString().slice(0, 19) !== text.slice(0, 19))
    return undefined
  const offset = (Number(offsetHours ?? 0) * 60 + Number(offsetMinutes ?? 0)) * 60
  return BigInt(millis / 1000 - (sign === '-' ? -offset : offset))
}

/** Seconds with an `s`, as protobuf's JSON has it: `1.500s`. What no Duration can be is an error. */
export function formatDuration({ seconds, nanos }: SecondsAndNanos): string | GraphQLError {
  if (seconds < -MAX_DURATION || seconds > MAX_DURATION) {
    return badValueError(
      `The backend sent a google.protobuf.Duration of ${seconds} seconds; the seconds must be from -${MAX_DURATION} to ${MAX_DURATION}`,
    )
  }
  const isMixed = (seconds < 0n && nanos > 0) || (seconds > 0n && nanos < 0)
  if (isMixed || Math.abs(nanos) > MAX_NANOS) {
    return badValueError(
      `The backend sent a google.protobuf.Duration of ${seconds} seconds and ${nanos} nanoseconds; both must have the same sign, with at most ${MAX_NANOS} nanoseconds`,
    )
  }
  const negative = seconds < 0n || nanos < 0
  const whole = seconds < 0n ? -seconds : seconds
  return `${negative ? '-' : ''}${whole}${formatFraction(Math.abs(nanos))}s`
}

export function parseDuration(value: unknown, path: string): SecondsAndNanos {
  const match = typeof value === 'string' ? DURATION.exec(value) : null
  const seconds = BigInt(match?.[2] ?? 0)
  if (!match || seconds > MAX_DURATION)
    throw wrongValue(
      path,
      `a duration in seconds such as "1.5s", with at most ${MAX_DURATION} seconds and 9 decimals`,
      value,
    )
  const nanos = parseFraction(match[3])
  return match[1] === '-' ? { seconds: -seconds, nanos: nanos === 0 ? 0 : -nanos } : { seconds, nanos }
}

function formatFraction(nanos: number): string {
  if (nanos === 0) return ''
  const digits = String(nanos).padStart(9, '0')
  if (digits.endsWith('000000')) return `.${digits.slice(0, 3)}`
  return digits.endsWith('000') ? `.${digits.slice(0, 6)}` : `.${digits}`
}

function parseFraction(digits: string | undefined): number {
  return digits === undefined ? 0 : Number(digits.padEnd(9, '0'))
}
