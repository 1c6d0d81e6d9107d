import { MalformedMessageError, type WireReader } from './wire-reader.ts'

export type DecodedMessage = Record<string, unknown>

/** Reads one field, whose tag was read, into the message that it is of. */
export type FieldDecoder = (
  reader: WireReader,
  target: DecodedMessage,
  wireType: number,
  depth: number,
) => void

/** How the messages of one type are read. */
export interface CompiledMessage {
  /** The decoded form of an empty message; every message begins as a copy of it. */
  blank: DecodedMessage
  readonly fields: ReadonlyMap<number, FieldDecoder>
}

/** The same limit as other protobuf implementations; deeper messages are hostile. */
export const MAX_DEPTH = 100

/** Reads the fields up to the reader's end. */
export function decodeFields(
  reader: WireReader,
  { fields }: CompiledMessage,
  target: DecodedMessage,
  depth: number,
): void {
  while (reader.pos < reader.end) {
    const tag = reader.uint32()
    const decode = fields.get(tag >>> 3)
    if (decode) decode(reader, target, tag & 7, depth)
    else reader.skip(tag & 7, tag >>> 3)
  }
}

/** Reads a message that stands in another, its length first. @throws MalformedMessageError where it is nested too deep */
export function decodeNested(
  reader: WireReader,
  message: CompiledMessage,
  target: DecodedMessage,
  depth: number,
): void {
  checkDepth(depth)
  const outer = reader.enter()
  decodeFields(reader, message, target, depth)
  reader.leave(outer)
}

/** Reads a message that stands in another between two tags of its field. @throws MalformedMessageError */
export function decodeGroup(
  reader: WireReader,
  message: CompiledMessage,
  target: DecodedMessage,
  depth: number,
  fieldNumber: number,
): void {
  checkDepth(depth)
  for (;;) {
    const tag = reader.uint32()
    if ((tag & 7) === 4) {
      if (tag >>> 3 === fieldNumber) return
      throw new MalformedMessageError(
        'malformed protobuf message: an end-group tag does not match its start-group tag',
      )
    }
    const decode = message.fields.get(tag >>> 3)
    if (decode) decode(reader, target, tag & 7, depth)
    else reader.skip(tag & 7, tag >>> 3)
  }
}

function checkDepth(depth: number): void {
  if (depth > MAX_DEPTH)
    throw new MalformedMessageError(`the response nests messages deeper than ${MAX_DEPTH} levels`)
}
