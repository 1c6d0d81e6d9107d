import { GraphQLError, type ExecutionResult, type GraphQLFormattedError } from 'graphql'
import {
  type Holding,
  type JsonText,
  type MaybePromise,
  publicExtensions,
  stringifySlices,
  type Turns,
  type Volatility,
  writeInSlices,
} from '@vinyasa/core'
import { cacheControlFor, etagOf, type CacheControl } from '../document/live-plan.ts'
import { detectFieldChanges } from './changes.ts'

/** An execution result of a live query. */
export interface LiveResult {
  readonly data?: unknown
  /** The data as JSON, if it is already serialized. */
  readonly text?: string
  readonly errors?: readonly unknown[] | undefined
  readonly extensions?: unknown
}

/** One result of a group, which is serialized once for all receivers. */
export interface Version {
  readonly number: number
  readonly result: LiveResult
  /** `"data":…` and, if present, `"errors":…,"extensions":…`: the part of a payload that all subscribers share. */
  readonly json: string
  /**
   * Returns the same as UTF-8 with the closing braces of a message. It is created on first use and ends every frame.
   */
  readonly tail: () => Buffer
  /** Returns the same without extensions. */
  readonly askedTail: () => Buffer
  /** Data and errors only. Extensions describe the execution, and can differ for equal data. */
  readonly asked: string
  /** Equal for consecutive versions with equal data and errors. */
  readonly content: number
  /** Number of events of the group at the time of the execution. */
  readonly events: number
  /** Seconds since the Unix epoch. */
  readonly emittedAt: number
  readonly cacheControl: CacheControl | undefined
  /** Undefined if the store's `changedFieldsDepth` is 0. */
  readonly changedSince: (base: Version) => FieldPaths | undefined
  /** Adds a user of the version. The ledger counts the version until `release` was called equally often. */
  readonly keep: () => void
  readonly release: () => void
}

/** Paths as a list and as JSON. */
export interface FieldPaths {
  readonly paths: readonly string[]
  readonly json: string
}

export interface VersionInput {
  readonly previous: Version | undefined
  readonly result: LiveResult
  readonly events: number
  readonly emittedAt: number
  readonly volatility: Volatility | undefined
  readonly shared: boolean
  readonly changedFieldsDepth: number
  readonly hold?: (version: Version, bytes: number) => Holding
}

/** Memory for each character of the JSON: the string twice, as UTF-8, and the data as objects. */
const BYTES_PER_CHARACTER = 8

export function createVersion(input: VersionInput): Version {
  const { previous, result, events, emittedAt, volatility, shared, changedFieldsDepth, hold } = input
  const serialised = serialise(result)
  // An equal result uses the previous string, so that comparing and storing it is free.
  const unchanged = previous?.asked === serialised
  const asked = unchanged ? previous.asked : serialised
  const { extensions } = result
  const json = extensions === undefined ? asked : `${asked},"extensions":${JSON.stringify(extensions)}`
  const known = new Map<number, FieldPaths>()
  let tail: Buffer | undefined
  let askedTail: Buffer | undefined
  let keepers = 0
  let holding: Holding | undefined
  return {
    number: (previous?.number ?? 0) + 1,
    result,
    json: previous?.json === json ? previous.json : json,
    asked,
    tail() {
      tail ??= Buffer.from(`${this.json}}}`)
      return tail
    },
    askedTail() {
      if (extensions === undefined) return this.tail()
      askedTail ??= Buffer.from(`${this.asked}}}`)
      return askedTail
    },
    content: unchanged ? previous.content : (previous?.content ?? 0) + 1,
    events,
    emittedAt,
    cacheControl: volatility && cacheControlFor(volatility, etagOf(asked), shared),
    changedSince(base) {
      if (changedFieldsDepth <= 0) return undefined
      const seen = known.get(base.number)
      if (seen) return seen
      const paths =
        base.asked === asked
          ? []
          : detectFieldChanges(base.result.data, result.data, '', changedFieldsDepth).map(
              ({ fieldPath }) => fieldPath,
            )
      const found: FieldPaths = { paths, json: JSON.stringify(paths) }
      known.set(base.number, found)
      return found
    },
    keep() {
      if (++keepers === 1) holding = hold?.(this, BYTES_PER_CHARACTER * json.length)
    },
    release() {
      if (--keepers === 0) holding?.release()
    },
  }
}

function serialise(result: LiveResult): string {
  let json = `"data":${result.text ?? JSON.stringify(result.data ?? null)}`
  if (result.errors && result.errors.length > 0) json += `,"errors":${JSON.stringify(result.errors)}`
  return json
}

/** Returns the result for clients: with formatted errors, and without Yoga's internal extensions. */
export function toLiveResult(result: ExecutionResult): LiveResult {
  const extensions = publicExtensions(result.extensions)
  return {
    data: result.data ?? null,
    ...(result.errors && result.errors.length > 0 ? { errors: result.errors.map(formatError) } : {}),
    ...(extensions ? { extensions } : {}),
  }
}

export function formatError(error: GraphQLError): GraphQLFormattedError {
  const { extensions: all, ...rest } =
    error instanceof GraphQLError ? error.toJSON() : (error as GraphQLFormattedError)
  const extensions = publicExtensions(all)
  return extensions ? { ...rest, extensions } : rest
}

/** A result that can already be serialized as JSON. */
interface Written extends ExecutionResult {
  readonly stringify?: (result: ExecutionResult) => JsonText
}

/**
 * Returns a result as JSON. A long result is serialized in several ticks of the event loop, and `goOn` can throw in
 * between.
 */
export function writeResult(
  result: ExecutionResult,
  slices: Turns,
  goOn?: () => void,
): MaybePromise<JsonText> {
  const { stringify } = result as Written
  // The existing JSON is used if `data` was not read. Errors and extensions have internal parts.
  if (stringify && !result.errors && !result.extensions?.['http']) return stringify.call(result, result)
  const { stringify: _, ...whole } = result as Written
  const shown = { errors: whole.errors?.map(formatError), extensions: publicExtensions(whole.extensions) }
  const pieces = stringifySlices({ ...whole, ...shown }) ?? []
  return writeInSlices(pieces, slices, '', '', goOn)
}
