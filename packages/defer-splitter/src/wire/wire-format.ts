import { publicExtensions } from '@vinyasa/core'
import { GraphQLError } from 'graphql'
import type { MultipartDelivery } from './accept.ts'
import {
  announced,
  type Announced,
  delivered,
  type Part,
  type Patch,
  type PathSegment,
  withdrawn,
} from '../parts.ts'

/** A part in the wire format, as plain JSON data. */
export type WirePart = Readonly<Record<string, unknown>> & { readonly hasNext: boolean }

export type MaskError = (error: unknown) => unknown

/** Creates the function that converts the parts of one response to the requested format. */
export function createWireFormatter(
  format: MultipartDelivery['format'],
  maskError: MaskError,
): (part: Part) => WirePart {
  return format === 'pending' ? createPendingFormatter(maskError) : (part) => formatPatches(part, maskError)
}

/**
 * Returns the part as JSON. A value that JSON cannot represent, e.g. a BigInt or a cycle in a custom scalar, becomes an
 * error of its patch. If it is in the first part, that part is also the last.
 */
export function stringifyPart(
  part: WirePart,
  maskError: MaskError,
): { readonly json: string; readonly hasNext: boolean } {
  const { hasNext } = part
  try {
    return { json: JSON.stringify(part), hasNext }
  } catch (thrown) {
    if ('data' in part) {
      const errors = [unserializable(thrown, maskError)]
      return { json: JSON.stringify({ data: null, errors, hasNext: false }), hasNext: false }
    }
    return { json: JSON.stringify(repair(part, maskError)), hasNext }
  }
}

interface WireEntry {
  readonly id?: string
  readonly path?: readonly (string | number)[]
  readonly label?: string
}

/** Replaces the patches that cannot be serialized by errors. In the later format, the errors are in `completed`. */
function repair(part: WirePart, maskError: MaskError): WirePart {
  const failed = new Map<string | undefined, unknown>()
  const incremental = (part['incremental'] as readonly WireEntry[]).flatMap((entry) => {
    try {
      JSON.stringify(entry)
      return [entry]
    } catch (thrown) {
      const { id, path, label } = entry
      const errors = [unserializable(thrown, maskError, path)]
      if (id === undefined) return [{ data: null, path, label, errors }]
      failed.set(id, errors)
      return []
    }
  })
  const completed = (part['completed'] as readonly WireEntry[] | undefined)?.map((entry) =>
    failed.has(entry.id) ? { ...entry, errors: failed.get(entry.id) } : entry,
  )
  return { ...part, incremental, ...(completed && { completed }) }
}

function unserializable(thrown: unknown, maskError: MaskError, path?: readonly (string | number)[]): unknown {
  const originalError = thrown instanceof Error ? thrown : new Error(String(thrown))
  return formatError(
    maskError(new GraphQLError(originalError.message, { path: path ?? null, originalError })),
  )
}

/** Returns the specification's format: `incremental: [{ data, path, label }]`. */
function formatPatches(part: Part, maskError: MaskError): WirePart {
  const incremental = 'incremental' in part ? part.incremental : undefined
  return {
    ...formatHead(part),
    ...(incremental && { incremental: formatIncremental(incremental, maskError) }),
    hasNext: part.hasNext,
  }
}

function formatIncremental(patches: readonly Patch[], maskError: MaskError): readonly unknown[] {
  // Patches without errors are sent unchanged.
  if (patches.every(({ errors }) => !errors)) return patches
  return patches.map((patch) =>
    patch.errors ? { ...patch, errors: formatErrors(patch.errors, maskError) } : patch,
  )
}

/** Creates the later format: each fragment gets an id in `pending`, is delivered, and is listed in `completed`. */
function createPendingFormatter(maskError: MaskError): (part: Part) => WirePart {
  const open = new Map<Announced, string>()
  let nextId = 0

  return (part) => {
    const pending: unknown[] = []
    const incremental: unknown[] = []
    const completed: unknown[] = []
    const announce = (fragment: Announced): string => {
      const known = open.get(fragment)
      if (known !== undefined) return known
      const id = String(nextId++)
      open.set(fragment, id)
      const { path, label } = fragment
      pending.push(label === undefined ? { id, path } : { id, path, label })
      return id
    }
    const complete = (fragment: Announced, id: string, errors?: readonly unknown[]): void => {
      open.delete(fragment)
      completed.push(errors ? { id, errors } : { id })
    }
    for (const fragment of part[announced] ?? []) announce(fragment)
    const fragments = (delivered in part && part[delivered]) || []
    for (const [index, patch] of (('incremental' in part && part.incremental) || []).entries()) {
      const fragment = fragmentOf(patch, fragments[index], open.keys())
      const id = announce(fragment)
      const errors = patch.errors?.length ? formatErrors(patch.errors, maskError) : undefined
      const { data } = patch
      if (data !== null) incremental.push({ id, data, ...(errors && { errors }) })
      complete(fragment, id, data === null ? errors : undefined)
    }
    for (const fragment of (withdrawn in part && part[withdrawn]) || []) {
      const id = open.get(fragment)
      if (id !== undefined) complete(fragment, id)
    }
    if (!part.hasNext) for (const [fragment, id] of open) complete(fragment, id)
    return {
      ...formatHead(part),
      ...(pending.length > 0 && { pending }),
      ...(incremental.length > 0 && { incremental }),
      ...(completed.length > 0 && { completed }),
      hasNext: part.hasNext,
    }
  }
}

/**
 * Returns the announced fragment of a patch. If a plugin changed the patches, it returns the first matching fragment.
 */
function fragmentOf(patch: Patch, marked: Announced | undefined, open: Iterable<Announced>): Announced {
  const { path, label } = patch
  const fits = (fragment: Announced): boolean => fragment.label === label && isSamePath(fragment.path, path)
  if (marked && fits(marked)) return marked
  for (const fragment of open) if (fits(fragment)) return fragment
  return { path, label }
}

function isSamePath(one: readonly PathSegment[], other: readonly PathSegment[]): boolean {
  return one.length === other.length && one.every((segment, index) => segment === other[index])
}

function formatHead(part: Part): Record<string, unknown> {
  const head: Record<string, unknown> = {}
  if ('data' in part) head['data'] = part.data
  if ('errors' in part && part.errors?.length) {
    head['errors'] = formatErrors(part.errors, (error) => error)
  }
  const extensions = publicExtensions(part.extensions)
  if (extensions) head['extensions'] = extensions
  return head
}

function formatErrors(errors: readonly GraphQLError[], maskError: MaskError): unknown[] {
  return errors.map((error) => formatError(maskError(error)))
}

/** Returns an error as JSON, without the extension for the HTTP layer. */
function formatError(error: unknown): unknown {
  const json: unknown =
    typeof error === 'object' && error !== null && 'toJSON' in error && typeof error.toJSON === 'function'
      ? error.toJSON()
      : error
  if (typeof json !== 'object' || json === null) return { message: String(json) }
  const { extensions, ...rest } = json as { readonly extensions?: Readonly<Record<string, unknown>> }
  const shown = publicExtensions(extensions)
  return shown ? { ...rest, extensions: shown } : rest
}
