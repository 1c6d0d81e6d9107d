import type { GraphQLSchema } from 'graphql'

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
