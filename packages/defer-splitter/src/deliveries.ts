import { createBoundedMemo } from './document/bounded-memo.ts'
import type { ResolvedOptions } from './options.ts'
import { type AcceptedDelivery, type MultipartDelivery, parseMultipartAccept } from './wire/accept.ts'

/** Decides the format of responses. */
export class Deliveries {
  readonly #enabled: boolean
  // Clients send few different Accept headers. The headers of a malicious client evict each other.
  readonly #accepts = createBoundedMemo<AcceptedDelivery>(100)
  /** Yoga's contexts, one for each operation, of requests to the path that always uses parts. */
  readonly #onEndpoint = new WeakSet<object>()

  constructor({ enabled }: Pick<ResolvedOptions, 'enabled'>) {
    this.#enabled = enabled
  }

  /** Marks the operation of this context: its response is in parts, regardless of the `Accept` header. */
  onEndpoint(context: object): void {
    this.#onEndpoint.add(context)
  }

  named(accept: string): AcceptedDelivery {
    return this.#accepts(accept, () => parseMultipartAccept(accept))
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
