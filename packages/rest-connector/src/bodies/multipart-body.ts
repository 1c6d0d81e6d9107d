import { randomUUID } from 'node:crypto'
import { isRecord } from '@vinyasa/core'
import { badInput } from '../errors.ts'
import type { RenderedBody, StreamedBody } from './wire-body.ts'
import { toJson } from '../json.ts'
import type { ParameterStyle } from '../parameters/parameter-options.ts'
import { toText } from '../templates/template.ts'
import type { EncodingOptions } from './body-options.ts'
import { isFile, type FileLike } from './file.ts'

type Segment = string | FileLike

/** Writes an object as parts: files as they are read, objects as JSON, lists as a part for each item (RFC 7578). */
export function compileMultipart(
  arg: string,
  mediaType: string,
  encoding: Readonly<Record<string, EncodingOptions>>,
): (value: unknown) => RenderedBody {
  return (value) => {
    if (!isRecord(value))
      throw badInput(`Argument "${arg}" must be an object, because each of its properties is sent as a part.`)
    const boundary = `vinyasa-${randomUUID()}`
    const segments: Segment[] = []
    for (const [name, member] of Object.entries(value)) {
      const own = Object.hasOwn(encoding, name) ? encoding[name] : undefined
      for (const item of own?.explode === false ? [joined(member, name, own.style)] : [member].flat()) {
        if (item === undefined || item === null) continue
        segments.push(`--${boundary}\r\n`, ...partOf(name, item, own?.contentType), '\r\n')
      }
    }
    segments.push(`--${boundary}--\r\n`)
    return { contentType: `${mediaType}; boundary=${boundary}`, body: streamOf(segments) }
  }
}

const SEPARATORS: Readonly<Record<string, string>> = {
  spaceDelimited: ' ',
  tabDelimited: '\t',
  pipeDelimited: '|',
}

/** The items of a list as one text; anything else as it is. */
function joined(value: unknown, name: string, style: ParameterStyle = 'form'): unknown {
  if (!Array.isArray(value)) return value
  const items = value.filter((item) => item !== undefined && item !== null)
  if (items.length === 0) return undefined
  return items.map((item: unknown) => toText(item, name)).join(SEPARATORS[style] ?? ',')
}

function partOf(name: string, value: unknown, declaredType: string | undefined): Segment[] {
  // Several media types, or a pattern, do not say which one this part has.
  const named = declaredType !== undefined && !/[,*]/.test(declaredType) ? declaredType : undefined
  const disposition = `content-disposition: form-data; name="${quoted(name)}"`
  if (isFile(value)) {
    const head = (): string => {
      const type = named ?? (isMediaType(value.type) ? value.type : 'application/octet-stream')
      return `${disposition}; filename="${quoted(value.name || 'file')}"\r\ncontent-type: ${type}\r\n\r\n`
    }
    return value.arrived ? [afterArrival(value, head)] : [head(), value]
  }
  const isStructured = typeof value === 'object'
  const type = named ?? (isStructured ? 'application/json' : undefined)
  const text =
    isStructured || (type !== undefined && /[/+]json\b/.test(type)) ? toJson(value) : toText(value, name)
  return [`${disposition}\r\n${type === undefined ? '' : `content-type: ${type}\r\n`}\r\n`, text]
}

/** A file that is on its way yet, and the head of its part. */
function afterArrival(file: FileLike, head: () => string): FileLike {
  return {
    isOnce: true,
    async *stream() {
      await file.arrived?.()
      yield Buffer.from(head())
      yield* file.stream() as AsyncIterable<Uint8Array>
    },
  }
}

/** WHATWG: "multipart/form-data encoding algorithm". */
function quoted(text: string): string {
  return text.replace(/["\r\n]/g, (one) => ({ '"': '%22', '\r': '%0D', '\n': '%0A' })[one] ?? '')
}

function isMediaType(text: string | undefined): text is string {
  return text !== undefined && /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:; ?[\w-]+=[\w.-]+)*$/.test(text)
}

/** Texts and files one after the other. */
export function streamOf(segments: readonly Segment[]): StreamedBody {
  const sizes = segments.map((one) => (typeof one === 'string' ? Buffer.byteLength(one) : one.size))
  return {
    size: sizes.every((size) => size !== undefined) ? sizes.reduce((sum, size) => sum + size, 0) : undefined,
    isRepeatable: segments.every((one) => typeof one === 'string' || !one.isOnce),
    async *open() {
      for (const segment of segments)
        if (typeof segment === 'string') yield Buffer.from(segment)
        else yield* segment.stream() as AsyncIterable<Uint8Array>
    },
  }
}
