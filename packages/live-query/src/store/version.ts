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
import { cacheControlFor, etagOf, type CacheControl } from '../document/cache-control.ts'
import { detectFieldChanges } from './changes.ts'

/** An execution result as a live query sends it. */
export interface LiveResult {
  readonly data?: unknown
  /** The data as JSON, where it was written before. */
  readonly text?: string
  readonly errors?: readonly unknown[] | undefined
  readonly extensions?: unknown
}

/** One result of a group, serialised once for all who receive it. */
export interface Version {
  readonly number: number
  readonly result: LiveResult
  /** `"data":…` and, where present, `"errors":…,"extensions":…`: the part of a payload all subscribers share. */
  readonly json: string
  /** The same as UTF-8 with the braces that end a message, made when first asked for: the end of every frame. */
  readonly tail: () => Buffer
  /** The same without extensions. */
  readonly askedTail: () => Buffer
  /** Data and errors alone: extensions say how a result was made, and may differ where nothing changed. */
  readonly asked: string
  /** Equal for versions in a row with equal data and errors. */
  readonly content: number
  /** How many events the group had seen when this was executed. */
  readonly events: number
  /** Seconds since the Unix epoch. */
  readonly emittedAt: number
  readonly cacheControl: CacheControl | undefined
  /** Undefined if the store's `changedFieldsDepth` is 0. */
  readonly changedSince: (base: Version) => FieldPaths | undefined
  /** Adds one who keeps the version. It is in the ledger until `release` was called as often. */
  readonly keep: () => void
  readonly release: () => void
}

/** Paths, and the same as JSON. */
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

/** Memory for each character of the JSON: the text twice, as UTF-8, and the data as objects. */
const BYTES_PER_CHARACTER = 8

export function createVersion(input: VersionInput): Version {
  const { previous, result, events, emittedAt, volatility, shared, changedFieldsDepth, hold } = input
  const serialised = serialise(result)
  // The older string when equal: comparing and keeping it is then free.
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

/** The result as a client may see it: errors formatted, without what Yoga keeps for itself in their extensions. */
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

/** A result that somebody may have written as JSON before. */
interface Written extends ExecutionResult {
  readonly stringify?: (result: ExecutionResult) => JsonText
}

/** A result as JSON; a long one in several turns of the event loop, between which `goOn` may throw. */
export function writeResult(
  result: ExecutionResult,
  slices: Turns,
  goOn?: () => void,
): MaybePromise<JsonText> {
  const { stringify } = result as Written
  // What is JSON already is one, as long as nobody looks at `data`. Errors and extensions have parts that are not for clients.
  if (stringify && !result.errors && !result.extensions?.['http']) return stringify.call(result, result)
  const { stringify: _, ...whole } = result as Written
  const shown = { errors: whole.errors?.map(formatError), extensions: publicExtensions(whole.extensions) }
  const pieces = stringifySlices({ ...whole, ...shown }) ?? []
  return writeInSlices(pieces, slices, '', '', goOn)
}
