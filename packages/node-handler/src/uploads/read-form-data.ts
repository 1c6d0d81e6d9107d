import type { FetchAPI } from 'graphql-yoga'
import { openMultipart } from './multipart-parts.ts'

/** Each part creates a map entry. Typical forms have a few parts. */
const MAX_PARTS = 1_000

/**
 * Parses a complete multipart body, with the result of `request.formData()`. If a name occurs more than once, the
 * last part counts. Rejects with a GraphQLError of status 400 if the body is invalid or a part has no name. Yoga's
 * own parser can hang on such bodies.
 */
export function readFormData(
  body: Uint8Array<ArrayBuffer>,
  contentType: string,
  fetchAPI: Pick<FetchAPI, 'FormData' | 'File'>,
): Promise<FormData> {
  const form = new fetchAPI.FormData()
  // No part is larger than the body.
  const most = body.byteLength + 1
  const limits = { maxFieldBytes: most, maxFields: MAX_PARTS, maxFileBytes: most, maxFiles: MAX_PARTS }
  return new Promise((resolve, reject) => {
    const parts = openMultipart(contentType, limits, {
      onField: (name, value) => form.set(name, value),
      onFile(name, bytes, fileName, type) {
        const chunks: Uint8Array<ArrayBuffer>[] = []
        bytes.on('data', (chunk: Uint8Array<ArrayBuffer>) => chunks.push(chunk))
        bytes.on('end', () => form.set(name, new fetchAPI.File(chunks, fileName ?? '', { type })))
      },
      onError: reject,
      onEnd: () => resolve(form),
    })
    parts.then((opened) => opened.write(body).then(() => opened.end())).catch(reject)
  })
}
