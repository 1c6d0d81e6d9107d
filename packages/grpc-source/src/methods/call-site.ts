import type { Abortable } from '@vinyasa/core'
import type { DescMethod } from '@bufbuild/protobuf'
import type { MetadataEntries, Transport } from '@vinyasa/grpc-transport'
import type { MessageDecoder } from '../codec/decode.ts'
import type { OperationInfo } from './operation.ts'

/** A method with all that a call of it needs. */
export interface Callable {
  readonly desc: DescMethod
  readonly path: string
  readonly transport: () => Transport<Abortable>
  readonly decode: MessageDecoder
  /** From the start of the operation; 0: no limit. */
  readonly timeoutMs: number
  readonly maxRetries: number
  /** A read: may be shared and sent again. */
  readonly isRead: boolean
}

/** The place that a call comes from. */
export interface CallSite {
  readonly context: unknown
  readonly info: OperationInfo | undefined
  readonly signal?: AbortSignal | undefined
  readonly metadata?: MetadataEntries | undefined
}
