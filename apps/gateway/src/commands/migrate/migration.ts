import type { GraphQLSchema } from 'graphql'

/** A line of the old configuration, and what became of it. */
export interface Note {
  /** From 1; undefined: it is of no line alone. */
  readonly line: number | undefined
  readonly text: string
  /** Default: the file that was given. */
  readonly file?: string | undefined
}

/** An old configuration in the words of this gateway. */
export interface Migration {
  /** The product that it was written for. */
  readonly from: string
  /** As the config file has it. */
  readonly config: Readonly<Record<string, unknown>>
  /** What has no counterpart and was left out, or is said elsewhere now. */
  readonly notes: readonly Note[]
  /** The schema that its clients know, where the configuration says it. */
  readonly schema: GraphQLSchema | undefined
}

/** Something of an old configuration that cannot be said here; the message says what, and the fix. */
export class Unsaid extends Error {
  override readonly name = 'Unsaid'
}

/** A part of an old configuration that nothing is known of. */
export type Values = Readonly<Record<string, unknown>>

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** A file beside the old configuration. */
export function nearby(file: string): string {
  return file.replace(/^\.\//, '')
}

/** Leaves out entries that have no value or hold nothing. */
export function filled(entries: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(entries).filter(
      ([, value]) =>
        value !== undefined &&
        !(typeof value === 'object' && value !== null && Object.keys(value).length === 0),
    ),
  )
}

/** Well-known messages by the scalars that they are here. */
const MESSAGES: Readonly<Record<string, string>> = {
  DateTime: 'Timestamp',
  Duration: 'Duration',
  FieldMask: 'FieldMask',
}

/** `typeNames` by which times, durations and masks of a schema are objects, as gateways have them that know no such scalars. */
export function knownMessages(
  schema: GraphQLSchema,
  nameOf: (message: string) => string,
): Readonly<Record<string, string>> {
  const used = Object.entries(MESSAGES).filter(([scalar]) => schema.getType(scalar))
  return Object.fromEntries(used.map(([, message]) => [`google.protobuf.${message}`, nameOf(message)]))
}
