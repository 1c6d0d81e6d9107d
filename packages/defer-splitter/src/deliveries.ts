import { createBoundedMemo } from './document/bounded-memo.ts'
import type { ResolvedOptions } from './options.ts'
import { type AcceptedDelivery, type MultipartDelivery, parseMultipartAccept } from './wire/accept.ts'

/** In what form the answer to a request goes out. */
export class Deliveries {
  readonly #enabled: boolean
  // Clients send a handful of Accept headers; those of a hostile one push each other out.
  readonly #accepts = createBoundedMemo<AcceptedDelivery>(100)
  /** By Yoga's context object, which is one per operation. */
  readonly #onEndpoint = new WeakSet<object>()

  constructor({ enabled }: Pick<ResolvedOptions, 'enabled'>) {
    this.#enabled = enabled
  }

  /** Has the operation of this context answered in parts, whatever the client accepts. */
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

  /** Undefined: in one piece. */
  of(context: object, request: Request | undefined): MultipartDelivery | undefined {
    if (!this.#enabled || !request) return undefined
    const { preferred, multipart } = this.accepted(context, request)
    return preferred === 'multipart' ? multipart : undefined
  }
}
