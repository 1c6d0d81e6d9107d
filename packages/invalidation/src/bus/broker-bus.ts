import { MAX_BROKER_BYTES, parseBrokerJson } from '@vinyasa/core'
import { ANYTHING } from '../types.ts'
import type { Batch } from './batch.ts'
import {
  openBus,
  type BusEventTarget,
  type BusInternals,
  type DistributedBusOptions,
  type DistributedInvalidationBus,
} from './distributed-bus.ts'

export type BrokerBusOptions = Omit<DistributedBusOptions, 'eventTarget'>

/**
 * Distributes invalidation events over a broker. The bus only serves its own process while the broker is unreachable.
 * After a reconnect, its listeners receive `{ entityType: '*', operation: '*' }`.
 */
export interface BrokerBus extends DistributedInvalidationBus {
  /** Resolves when the bus connects for the first time. */
  readonly ready: Promise<void>
  close(): void
  [Symbol.asyncDispose](): Promise<void>
}

/** The interface of the bus for the client of a broker. */
export interface BrokerLink {
  /** The channels that this process subscribes to: the common channel and its own channel. */
  readonly channels: readonly [string, ...string[]]
  readonly isConnected: boolean
  /** Receives a message of one of the channels. */
  hear(message: Uint8Array): void
  /**
   * Called after messages can have been missed. Resolves when the listeners of this process have received the event.
   */
  catchUp(): Promise<void>
  /** Called when messages can be sent and received. */
  connected(): void
  disconnected(reason?: unknown): void
  onError(error: unknown): void
}

/** The client of a broker. */
export interface BrokerClient {
  /**
   * Publishes a message. Resolves with whether the broker has accepted it, if `isAwaited` is set. Other processes
   * detect a lost message by its missing number.
   */
  publish(channel: string, text: string, isAwaited: boolean): Promise<boolean>
  /** Called once, after the last message was published. */
  close(): void
}

/** Creates a bus over the client from `open`. The client connects and reconnects automatically. */
export function createBrokerBus(
  options: BrokerBusOptions,
  open: (link: BrokerLink) => BrokerClient,
  internals?: BusInternals,
): BrokerBus {
  const { onState = () => {}, onError = () => {}, channel = 'vinyasa:invalidation' } = options
  let state: 'connected' | 'disconnected' | undefined
  const channels: [string, ...string[]] = [channel]
  let closed = false
  let hear: Parameters<BusEventTarget['addEventListener']>[1] = () => {}
  let markReady: () => void = () => {}
  const ready = new Promise<void>((resolve) => {
    markReady = resolve
  })

  function setState(next: 'connected' | 'disconnected', reason?: unknown): void {
    if (state === next || closed) return
    state = next
    onState(next, reason)
  }

  const eventTarget: BusEventTarget = {
    addEventListener(type, listener) {
      if (type !== channel) channels.push(type)
      hear = listener
    },
    removeEventListener: () => void (hear = () => {}),
    dispatchEvent({ type, detail }) {
      const { events } = detail as Batch
      const text = JSON.stringify(detail)
      const message =
        Buffer.byteLength(text) > MAX_BROKER_BYTES
          ? JSON.stringify({ ...(detail as Batch), events: ANYTHING })
          : text
      const taken = client.publish(type, message, events.length > 0)
      return state === 'connected' && taken
    },
  }
  const bus = openBus({ ...options, onError, channel, eventTarget }, internals)
  const client = open({
    channels,
    get isConnected() {
      return state === 'connected'
    },
    hear: (message) => hear(new CustomEvent(channel, { detail: parseBrokerJson(message) })),
    catchUp: bus.resync,
    connected() {
      if (state !== 'connected') {
        setState('connected')
        bus.greet()
      }
      markReady()
    },
    disconnected: (reason) => setState('disconnected', reason),
    onError,
  })

  function close(): void {
    if (closed) return
    bus.close()
    closed = true
    client.close()
  }

  return {
    ...bus,
    get isInTouch() {
      return state === 'connected' && bus.isInTouch !== false
    },
    get maxAgeMs() {
      return bus.maxAgeMs
    },
    ready,
    close,
    async [Symbol.asyncDispose]() {
      close()
    },
  }
}
