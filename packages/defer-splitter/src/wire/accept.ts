import { jsonQuality, parseAccept } from '@vinyasa/core'

/**
 * How a deferred operation's answer travels.
 *
 * `patches` is the specification's format (`incremental: [{ data, path, label }]`), `pending` the later one
 * (`pending` / `completed`). `parameter` is the Accept parameter that the client named, to be echoed.
 */
export interface MultipartDelivery {
  readonly format: 'patches' | 'pending'
  readonly parameter: string | undefined
}

/** The wishes of an Accept header for the answer to a deferred operation. */
export interface AcceptedDelivery {
  /** The multipart format it names and that we speak, if any. */
  readonly multipart: MultipartDelivery | undefined
  /** `neither`: it accepts nothing but multipart formats that we do not speak. */
  readonly preferred: 'multipart' | 'json' | 'neither'
  /** Whether it accepts no JSON, so that a whole answer is one part. */
  readonly isAlone: boolean
}

/**
 * Reads an Accept header (RFC 9110, section 12.5.1). Multipart is preferred where its quality is at least that of JSON;
 * wildcards do not ask for multipart. Known formats: bare `multipart/mixed`, `deferSpec=20220824`,
 * `incrementalSpec=v0.2`; a parameter with another name or value makes it a format that we do not speak.
 */
export function parseMultipartAccept(accept: string | null): AcceptedDelivery {
  if (!accept || !/multipart/i.test(accept))
    return { multipart: undefined, preferred: 'json', isAlone: false }
  const accepted = parseAccept(accept)
  let best: { readonly multipart: MultipartDelivery; readonly quality: number } | undefined
  for (const { type, parameters, quality } of accepted) {
    const multipart = type === 'multipart/mixed' ? deliveryOf(parameters) : undefined
    if (multipart && quality > (best?.quality ?? 0)) best = { multipart, quality }
  }
  const json = jsonQuality(accepted)
  if (best && best.quality >= json)
    return { multipart: best.multipart, preferred: 'multipart', isAlone: json === 0 }
  const taken = accepted.filter(({ quality }) => quality > 0)
  const isUnknown = !best && taken.length > 0 && taken.every(({ type }) => type === 'multipart/mixed')
  return { multipart: best?.multipart, preferred: isUnknown ? 'neither' : 'json', isAlone: false }
}

const formats: Readonly<Record<string, MultipartDelivery>> = {
  'deferspec=20220824': { format: 'patches', parameter: 'deferSpec=20220824' },
  'incrementalspec=v0.2': { format: 'pending', parameter: 'incrementalSpec=v0.2' },
}

/** Parameters that say nothing about the format. */
const neutral: ReadonlySet<string> = new Set(['q', 'boundary', 'charset'])

function deliveryOf(parameters: ReadonlyMap<string, string>): MultipartDelivery | undefined {
  const named = [...parameters].filter(([name]) => !neutral.has(name))
  const [only] = named
  if (!only) return { format: 'patches', parameter: undefined }
  const key = only.join('=')
  return named.length === 1 && Object.hasOwn(formats, key) ? formats[key] : undefined
}

/** How a whole answer is marked. */
export function jsonTypeOf(accept: string): string {
  const isModern = accept.includes('application/graphql-response+json')
  return isModern ? 'application/graphql-response+json' : 'application/json'
}
