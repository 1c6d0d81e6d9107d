import { jsonQuality, keyedByHeader, parseAccept } from '@vinyasa/core'

/**
 * The format of the response to a deferred operation.
 *
 * `patches` is the specification's format (`incremental: [{ data, path, label }]`), and `pending` is the later format
 * (`pending` / `completed`). `parameter` is the parameter of the Accept header, which the Content-Type repeats.
 */
export interface MultipartDelivery {
  readonly format: 'patches' | 'pending'
  readonly parameter: string | undefined
}

/** The formats that an Accept header accepts for a deferred operation. */
export interface AcceptedDelivery {
  /** The accepted multipart format, if it is supported. */
  readonly multipart: MultipartDelivery | undefined
  /** `neither` means that the header accepts only unsupported multipart formats. */
  readonly preferred: 'multipart' | 'json' | 'neither'
  /** Whether the header does not accept JSON, so that a complete result is sent as one part. */
  readonly isAlone: boolean
}

/**
 * Parses an Accept header (RFC 9110, section 12.5.1). Multipart is preferred if its quality is at least that of JSON.
 * Wildcards do not request multipart. Supported formats are `multipart/mixed` without parameters, `deferSpec=20220824`
 * and `incrementalSpec=v0.2`. Other parameters mean an unsupported format.
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

/** Parameters that do not affect the format. */
const neutral: ReadonlySet<string> = new Set(['q', 'boundary', 'charset'])

function deliveryOf(parameters: ReadonlyMap<string, string>): MultipartDelivery | undefined {
  const named = [...parameters].filter(([name]) => !neutral.has(name))
  const [only] = named
  if (!only) return { format: 'patches', parameter: undefined }
  const key = only.join('=')
  return named.length === 1 && Object.hasOwn(formats, key) ? formats[key] : undefined
}

/** Returns the media type of a complete result. */
export function jsonTypeOf(accept: string): string {
  const isModern = accept.includes('application/graphql-response+json')
  return isModern ? 'application/graphql-response+json' : 'application/json'
}

/** Decides the format of responses. */
export class Deliveries {
  readonly #enabled: boolean
  /** Returns what a header accepts. */
  readonly named: (accept: string) => AcceptedDelivery = keyedByHeader(parseMultipartAccept)
  /** Yoga's contexts, one for each operation, of requests to the path that always uses parts. */
  readonly #onEndpoint = new WeakSet<object>()

  constructor({ enabled }: { readonly enabled: boolean }) {
    this.#enabled = enabled
  }

  /** Marks the operation of this context: its response is in parts, regardless of the `Accept` header. */
  onEndpoint(context: object): void {
    this.#onEndpoint.add(context)
  }

  accepted(context: object, request: Request): AcceptedDelivery {
    const given = this.named(request.headers.get('accept') ?? '')
    if (!this.#onEndpoint.has(context)) return given
    return {
      ...given,
      preferred: 'multipart',
      multipart: given.multipart ?? { format: 'patches', parameter: undefined },
    }
  }

  /** Returns the format of the parts, or `undefined` for a complete response. */
  of(context: object, request: Request | undefined): MultipartDelivery | undefined {
    if (!this.#enabled || !request) return undefined
    const { preferred, multipart } = this.accepted(context, request)
    return preferred === 'multipart' ? multipart : undefined
  }
}
