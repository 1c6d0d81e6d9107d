import { MAX_FRAME_BYTES, Type } from './frame-parser.ts'
import { flowError, wants } from './codes.ts'

/** Bytes that a window can hold at most (RFC 9113, section 6.9.1). */
export const MAX_WINDOW: number = 2 ** 31 - 1

/** Bytes that a window holds at first (RFC 9113, section 6.9.2). */
export const DEFAULT_WINDOW = 65_535

const MAX_CONCURRENT_STREAMS = 3
const INITIAL_WINDOW_SIZE = 4
const MAX_FRAME_SIZE = 5

/** The settings that a peer asks for; those that it does not name stay as they were. */
export interface Settings {
  maxStreams?: number
  initialWindow?: number
  maxFrameBytes?: number
}

/**
 * The payload of a SETTINGS frame (RFC 9113, section 6.5); settings that do not concern a client are left out.
 * @throws when a value is out of its bounds
 */
export function readSettings(payload: Buffer): Settings {
  wants(payload.length % 6 === 0, Type.SETTINGS)
  const settings: Settings = {}
  for (let at = 0; at < payload.length; at += 6) {
    const value = payload.readUInt32BE(at + 2)
    switch (payload.readUInt16BE(at)) {
      case MAX_CONCURRENT_STREAMS:
        settings.maxStreams = value
        break
      case INITIAL_WINDOW_SIZE:
        if (value > MAX_WINDOW) throw flowError()
        settings.initialWindow = value
        break
      case MAX_FRAME_SIZE:
        wants(value >= MAX_FRAME_BYTES && value < 2 ** 24, Type.SETTINGS)
        settings.maxFrameBytes = value
        break
      default:
    }
  }
  return settings
}
