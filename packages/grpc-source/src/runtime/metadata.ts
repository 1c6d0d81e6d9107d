import { toVariesBy, type VariesBy } from '@vinyasa/invalidation'
import { createAttachment } from '@vinyasa/core'
import { badInputError, optionError, reasonOf, type GrpcSourceError } from '../errors.ts'
import { headersOf, isOfConnection, refuseForwarded } from '@vinyasa/source-kit'
import type { MetadataEntries } from '@vinyasa/grpc-transport'

export type MetadataValue = string | Uint8Array | readonly (string | Uint8Array)[] | undefined

export interface MetadataOptions {
  /** Metadata of every call, unless a forwarded header has the same name. Names that end in `-bin` accept bytes. */
  readonly static?: Readonly<Record<string, MetadataValue>> | undefined
  /** Computes metadata once per operation from its context. It overrides `static` and forwarded headers. */
  readonly fromContext?: MetadataFromContext | undefined
}

/** The options of a source that determine the metadata of its calls. */
interface MetadataSettings {
  readonly forwardHeaders?: readonly string[] | undefined
  readonly metadata?: MetadataOptions | undefined
}

export interface MetadataFromContext {
  (
    context: unknown,
  ): Readonly<Record<string, MetadataValue>> | Promise<Readonly<Record<string, MetadataValue>>>
  /**
   * Names of all client headers that affect the metadata. `[]` declares that the function reads no headers. If this is missing, a
   * response cache does not store results of the source's fields unless it has a `session` function.
   * `Object.assign((context) => ({ ... }), { readsHeaders: ['x-tenant'] })`
   */
  readonly readsHeaders?: readonly string[] | undefined
}

const FORWARDED = ['authorization', 'x-request-id', 'traceparent', 'tracestate']

/** Returns the part of a client's request that can affect the source's results, or undefined. */
export function variesByOf(sourceName: string, settings: MetadataSettings): VariesBy | undefined {
  const { forwardHeaders = FORWARDED, metadata: { fromContext } = {} } = settings
  const headers = [...forwardHeaders, ...(fromContext?.readsHeaders ?? [])]
  if (!fromContext || fromContext.readsHeaders) return toVariesBy(headers)
  return toVariesBy(
    headers,
    `grpc source "${sourceName}": metadata.fromContext can depend on the caller; set readsHeaders on the function to the request headers that it reads, or to []`,
  )
}

/** Returns the metadata for the calls of an operation. It returns a promise only if `fromContext` does. */
export type MetadataSource = (context: unknown) => MetadataEntries | Promise<MetadataEntries>

export function createMetadataSource(settings: MetadataSettings): MetadataSource {
  const { forwardHeaders = FORWARDED, metadata = {} } = settings
  const { static: fixed = {}, fromContext } = metadata
  refuseForwarded(forwardHeaders, optionError)
  const forwarded = [...new Set(forwardHeaders.map((name) => name.toLowerCase()))]
  const constant = fixedEntries(fixed)
  const ofContext = createAttachment<MetadataEntries | Promise<MetadataEntries>>()

  function compute(context: unknown): MetadataEntries | Promise<MetadataEntries> {
    const headers = headersOf(context)
    const given: [string, string | Uint8Array][] = []
    for (const name of headers ? forwarded : []) {
      const value = headers?.(name)
      if (value === undefined) continue
      given.push([name, name.endsWith('-bin') ? Buffer.from(value, 'base64') : checkedValue(name, value)])
    }
    const entries = inPlaceOf(constant, given)
    if (!fromContext) return entries
    const merge = (extra: Readonly<Record<string, MetadataValue>>): MetadataEntries =>
      inPlaceOf(entries, toEntries(extra))
    const extra = fromContext(context)
    return extra instanceof Promise ? extra.then(merge) : merge(extra)
  }

  return (context) => {
    if (typeof context !== 'object' || context === null) return compute(context)
    let entries = ofContext.get(context)
    if (!entries) ofContext.set(context, (entries = compute(context)))
    return entries
  }
}

/** Merges entries. Later entries replace earlier entries with the same name. */
function inPlaceOf(before: MetadataEntries, later: MetadataEntries): MetadataEntries {
  if (before.length === 0) return later
  return [...before.filter(([name]) => !later.some(([other]) => other === name)), ...later]
}

function fixedEntries(values: Readonly<Record<string, MetadataValue>>): MetadataEntries {
  return Object.entries(values).flatMap(([name, value]) => {
    const refuse = (text: string, cause?: unknown): GrpcSourceError =>
      optionError(['metadata', 'static', name], `metadata.static: ${text}`, cause)
    if (isOfConnection(name.toLowerCase()))
      throw refuse(
        `"${name}" cannot be sent as metadata, because HTTP or gRPC controls this header; remove it`,
      )
    try {
      return toEntries({ [name]: value })
    } catch (error) {
      throw refuse(reasonOf(error), error)
    }
  })
}

/** Uses loops because it runs for every operation with a trace. */
export function toEntries(values: Readonly<Record<string, MetadataValue>>): MetadataEntries {
  const entries: (readonly [string, string | Uint8Array])[] = []
  for (const written of Object.keys(values)) {
    const name = written.toLowerCase()
    const value = values[written]
    if (value === undefined || isOfConnection(name)) continue
    if (!/^[0-9a-z_.-]+$/.test(name))
      throw badInputError(`"${written}" is not a valid metadata name; use only a-z, 0-9, "-", "_" and "."`)
    if (!Array.isArray(value)) entries.push([name, toItem(name, value as string | Uint8Array)])
    else
      for (const item of value as readonly (string | Uint8Array)[]) entries.push([name, toItem(name, item)])
  }
  return entries
}

function toItem(name: string, item: string | Uint8Array): string | Uint8Array {
  if (name.endsWith('-bin')) return typeof item === 'string' ? Buffer.from(item, 'base64') : item
  return checkedValue(name, typeof item === 'string' ? item : Buffer.from(item).toString('latin1'))
}

/** gRPC allows only printable ASCII. Line breaks would allow header injection. */
function checkedValue(name: string, value: string): string {
  if (/^[\x20-\x7e]*$/.test(value)) return value
  throw badInputError(
    `the value of the header or metadata "${name}" contains characters that gRPC does not allow; use only printable ASCII`,
  )
}
