import { MAX_LEVELS } from './json-values.ts'
import { WireReader } from './wire-reader.ts'

/** `google.protobuf.Struct`, `Value` and `ListValue`: by field number, what the messages in them are. */
const INSIDE: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  'google.protobuf.Struct': { 1: 'entry' },
  entry: { 2: 'google.protobuf.Value' },
  'google.protobuf.Value': { 5: 'google.protobuf.Struct', 6: 'google.protobuf.ListValue' },
  'google.protobuf.ListValue': { 1: 'google.protobuf.Value' },
}
/** A level of JSON is up to three messages. Deeper ones are refused by those who read them. */
const MAX_DEPTH = 3 * MAX_LEVELS

/** Counts the members of a value of any form as items of the reply that it is in. */
export function noteMembers(reply: WireReader, bytes: Uint8Array, type: string, depth: number = 0): void {
  const inside = INSIDE[type]
  if (!inside || depth > MAX_DEPTH) return
  const isMember = type.endsWith('Struct') || type.endsWith('ListValue')
  const reader = new WireReader(bytes)
  while (reader.pos < reader.end) {
    const tag = reader.uint32()
    const below = (tag & 7) === 2 ? inside[tag >>> 3] : undefined
    if (below === undefined) {
      reader.skip(tag & 7, tag >>> 3)
      continue
    }
    const message = reader.bytes()
    if (isMember) reply.item()
    noteMembers(reply, message, below, depth + 1)
  }
}
