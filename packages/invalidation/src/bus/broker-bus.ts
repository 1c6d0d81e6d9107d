import { type KnownOptions, MAX_BROKER_BYTES, parseBrokerJson } from '@vinyasa/core'
import { ANYTHING } from '../types.ts'
import type { Batch } from './batch.ts'
import {
  createDistributedInvalidationBus,
  DISTRIBUTED_OPTIONS,
  type BusEventTarget,
  type DistributedBusOptions,
  type DistributedInvalidationBus,
} from './distributed-bus.ts'

export interface BrokerBusOptions extends Omit<DistributedBusOptions, 'eventTarget'> {
  /** Receives each change of the connection state once. `error` is the reason of a disconnect. */
  readonly onStateChange?: ((state: BrokerBusState, error?: unknown) => void) | undefined
}

export const BROKER_OPTIONS: KnownOptions<BrokerBusOptions> = {
  ...DISTRIBUTED_OPTIONS,
  onStateChange: true,
}

/** State of a broker connection. It is also `disconnected` while the broker refuses the login or the channel. */
export type BrokerBusState = 'connected' | 'disconnected'

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

/** The bus as the client of a broker talks to it. */
export interface BrokerLink {
  /** Those on which this process listens: that of all, and its own. */
  readonly channels: readonly [string, ...string[]]
  readonly isConnected: boolean
  /** Receives a message of one of the channels. */
  hear(message: Uint8Array): void
  /** Tells this process that words of others may have been missed; resolves when its listeners know. */
  catchUp(): Promise<void>
  /** From now on what is said is heard, here and there. */
  connected(): void
  disconnected(reason?: unknown): void
  onError(error: unknown): void
}

/** The client of a broker as the bus talks to it. */
export interface BrokerClient {
  /**
   * Resolves with whether the broker has it, where somebody waits for that. What does not arrive leaves a gap, which
   * the others notice.
   */
  publish(channel: string, text: string, isAwaited: boolean): Promise<boolean>
  /** Called once, after the last word was published. */
  close(): void
}

/** A bus over the client that `open` makes, which connects, and connects again, of itself. */
export function createBrokerBus(
  options: BrokerBusOptions,
  open: (link: BrokerLink) => BrokerClient,
): BrokerBus {
  const { onStateChange = () => {}, onError = () => {}, channel = 'vinyasa:invalidation', ...rest } = options
  let state: BrokerBusState | undefined
  const channels: [string, ...string[]] = [channel]
  let closed = false
  let hear: Parameters<BusEventTarget['addEventListener']>[1] = () => {}
  let markReady: () => void = () => {}
  const ready = new Promise<void>((resolve) => {
    markReady = resolve
  })

  function setState(next: BrokerBusState, reason?: unknown): void {
    if (state === next || closed) return
    state = next
    onStateChange(next, reason)
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
  const bus = createDistributedInvalidationBus({ ...rest, onError, channel, eventTarget })
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
