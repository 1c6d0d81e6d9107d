export const Frame = {
  DATA: 0,
  HEADERS: 1,
  RST: 3,
  SETTINGS: 4,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const
export const END_STREAM = 1
export const END_HEADERS = 4
const FRAME_BYTES = 16_384

export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Fields as texts, in no table. */
export function fields(list: readonly (readonly [string, string])[]): Buffer {
  const text = (value: string): Buffer => {
    const bytes = Buffer.from(value, 'latin1')
    const length = [Math.min(bytes.length, 127)]
    if (bytes.length >= 127) {
      let rest = bytes.length - 127
      for (; rest >= 128; rest >>>= 7) length.push((rest & 127) | 128)
      length.push(rest)
    }
    return Buffer.concat([Buffer.from(length), bytes])
  }
  return Buffer.concat(list.flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]))
}

/** A header block of any length, in as many frames as it needs. */
export function headers(flags: number, stream: number, block: Buffer): Buffer {
  const count = Math.max(1, Math.ceil(block.length / FRAME_BYTES))
  return Buffer.concat(
    Array.from({ length: count }, (_, index) => {
      const part = block.subarray(index * FRAME_BYTES, (index + 1) * FRAME_BYTES)
      const type = index === 0 ? Frame.HEADERS : Frame.CONTINUATION
      return frame(type, (index === 0 ? flags : 0) | (index === count - 1 ? END_HEADERS : 0), stream, part)
    }),
  )
}

export const RESPONSE: Buffer = fields([
  [':status', '200'],
  ['content-type', 'application/grpc'],
])
export const OK: Buffer = fields([['grpc-status', '0']])

/** A whole answer: one message, as it stands in protobuf. */
export function reply(stream: number, message: Uint8Array): Buffer[] {
  const prefixed = Buffer.concat([Buffer.alloc(5), message])
  prefixed.writeUInt32BE(message.length, 1)
  const data: Buffer[] = []
  for (let from = 0; from < prefixed.length; from += FRAME_BYTES)
    data.push(frame(Frame.DATA, 0, stream, prefixed.subarray(from, from + FRAME_BYTES)))
  return [
    frame(Frame.HEADERS, END_HEADERS, stream, RESPONSE),
    ...data,
    frame(Frame.HEADERS, END_HEADERS | END_STREAM, stream, OK),
  ]
}

export function settingsOf(settings: Readonly<Record<number, number>>): Buffer {
  const entries = Object.entries(settings).map(([id, value]) => {
    const entry = Buffer.alloc(6)
    entry.writeUInt16BE(Number(id))
    entry.writeUInt32BE(value, 2)
    return entry
  })
  return frame(Frame.SETTINGS, 0, 0, Buffer.concat(entries))
}

export function settingsIn(payload: Buffer): ReadonlyMap<number, number> {
  const settings = new Map<number, number>()
  for (let at = 0; at + 6 <= payload.length; at += 6)
    settings.set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2))
  return settings
}
