import type { Readable } from 'node:stream'
import type { GraphQLError } from 'graphql'
import { badUploadRequest, clientLeft, unusableUpload, uploadTooLarge } from '../errors.ts'
import { WaitingFile, type FileQueue } from './uploaded-file.ts'
import { parseMap, parseOperations, place } from './upload-map.ts'

export interface UploadLimits {
  readonly maxFileBytes: number
  readonly maxFiles: number
  readonly maxFieldBytes: number
  readonly maxIdleMs: number
}

/** What came before the files, with the files in their places, and what lets go of those that nobody reads. */
export interface ReadUploads {
  readonly operations: object
  discard(): void
}

/** Bytes of a file that wait in memory while nobody reads them. */
const FILE_BUFFER = 256 * 1024

/**
 * Reads a GraphQL multipart request as far as its first file; the files are read by whom they are for. Rejects with a
 * GraphQLError of status 400 or 413 for what is no such request.
 */
export async function readUploads(request: Request, limits: UploadLimits): Promise<ReadUploads> {
  const { Busboy } = await import('@fastify/busboy')
  const { maxFileBytes, maxFiles, maxFieldBytes, maxIdleMs } = limits
  const announced = Number(request.headers.get('content-length') ?? 0)
  const most = maxFiles * maxFileBytes + 3 * maxFieldBytes
  if (announced > most) throw uploadTooLarge('The request', most)
  const files = new Map<string, WaitingFile>()
  const inOrder: WaitingFile[] = []
  let isDiscarded = false

  const queue: FileQueue = {
    maxFileBytes,
    async untilReached(file, arrival) {
      while (!file.hasArrived) {
        const isThere = await Promise.race([arrival.then(() => true), after(maxIdleMs)])
        if (!isThere && inOrder.some((other) => other.isInTheWay))
          throw unusableUpload(
            `A file of the request waits behind one that nobody has read for ${maxIdleMs} ms. Send files in the order in which they are used.`,
          )
      }
      await arrival
    },
  }

  return new Promise((resolve, reject) => {
    let operations: object | undefined
    let hasMap = false
    const refuse = (error: unknown): void => {
      reject(error)
      for (const file of files.values()) file.fail(error)
    }
    const ready = (): void => {
      if (!operations) return refuse(badUploadRequest('it has no part "operations"'))
      resolve({
        operations,
        discard() {
          isDiscarded = true
          for (const file of files.values()) file.discard()
        },
      })
    }

    function onField(name: string, value: string, isCut: boolean): void {
      if (name !== 'operations' && name !== 'map') return
      if (isCut) throw uploadTooLarge(`The part "${name}"`, maxFieldBytes)
      if (name === 'operations') {
        if (operations) throw badUploadRequest('it has "operations" twice')
        operations = parseOperations(value)
        return
      }
      if (!operations) throw badUploadRequest('"map" stands before "operations"')
      if (hasMap) throw badUploadRequest('it has "map" twice')
      hasMap = true
      for (const [key, paths] of parseMap(value, maxFiles)) {
        const file = new WaitingFile(queue)
        files.set(key, file)
        for (const path of paths) place(operations, path, file)
      }
    }

    function onFile(key: string, bytes: Readable, name: string | undefined, type: string): void {
      const file = files.get(key)
      if (!operations || !hasMap) {
        bytes.resume()
        throw badUploadRequest('a file stands before "map"')
      }
      // One that no operation asks for, or the second of one name, goes by.
      if (!file || file.hasArrived || isDiscarded) bytes.resume()
      if (!file || file.hasArrived) return
      inOrder.push(file)
      file.attach({ bytes, name: name ?? '', type })
      ready()
    }

    const guarded =
      <Given extends unknown[]>(listener: (...given: Given) => void) =>
      (...given: Given): void => {
        try {
          listener(...given)
        } catch (error) {
          refuse(error)
        }
      }

    let parser: InstanceType<typeof Busboy>
    try {
      parser = new Busboy({
        headers: { 'content-type': request.headers.get('content-type') ?? '' },
        limits: {
          fieldSize: maxFieldBytes,
          fields: 20,
          files: maxFiles,
          fileSize: maxFileBytes,
          parts: maxFiles + 20,
        },
        fileHwm: FILE_BUFFER,
      })
    } catch (error) {
      refuse(malformed(error))
      return
    }
    parser.on(
      'field',
      guarded((name, value, _, isCut) => onField(name, value, isCut)),
    )
    parser.on(
      'file',
      guarded((key, bytes, name, _, type) => onFile(key, bytes, name, type)),
    )
    parser.on('filesLimit', () => refuse(badUploadRequest(`it has more than ${maxFiles} files`)))
    parser.on('error', (error) => refuse(malformed(error)))
    parser.on('finish', () => {
      ready()
      const missing = unusableUpload('A file that "map" names is not among the parts of the request.')
      for (const file of files.values()) if (!file.hasArrived) file.fail(missing)
    })
    feed(request, parser).catch(refuse)
  })
}

/** Gives the parser the body no faster than the files are read. */
async function feed(request: Request, parser: NodeJS.WritableStream): Promise<void> {
  // Not `for await`: leaving it early would cancel the stream, and with it the socket that is to carry the answer.
  const reader = request.body?.getReader()
  for (let next = await read(reader); next && !next.done; next = await read(reader))
    await new Promise<void>((resolve) => parser.write(next?.value as Uint8Array, () => resolve()))
  parser.end()
}

async function read(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
): Promise<ReadableStreamReadResult<Uint8Array> | undefined> {
  try {
    return await reader?.read()
  } catch {
    throw clientLeft()
  }
}

function malformed(error: unknown): GraphQLError {
  return badUploadRequest(error instanceof Error ? error.message : 'it is no multipart body')
}

function after(ms: number): Promise<false> {
  return new Promise((resolve) => setTimeout(() => resolve(false), ms).unref())
}
