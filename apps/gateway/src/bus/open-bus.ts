import { unlessAborted } from '@vinyasa/core'
import { type BusState, createInvalidationBus, type InvalidationBus } from '@vinyasa/invalidation'
import { mistakeAt } from '../errors.ts'
import type { Logger } from '../logging/logger.ts'
import { createOutage } from '../logging/outage.ts'
import type { Broker } from './broker.ts'
import type { ReachedBrokers } from './reached-brokers.ts'

export interface OpenedBus {
  readonly bus: InvalidationBus
  /** Returns the state of the broker that carries changes between gateways, if there is one. */
  readonly broker?: (() => BrokerState) | undefined
  close(): void
}

export interface BrokerState {
  readonly kind: Broker['kind']
  readonly connected: boolean
  /** Why not. */
  readonly reason?: string | undefined
}

/** For an address that does not answer at all; one that refuses is given up at once. */
const CONNECT_TIMEOUT_MS = 1500
const NAMES = { redis: 'Redis', nats: 'NATS' } as const

export interface OpenBusOptions {
  /**
   * The bus that workers share, also below one over Redis or NATS. Default: a bus for this process alone.
   */
  readonly bus?: InvalidationBus | undefined
  readonly reachedBrokers?: ReachedBrokers | undefined
}

/**
 * The bus of one gateway: in memory, or over Redis or NATS when there is more than one. Throws `ConfigError` when the
 * broker was never reached; one that goes away later is logged, and the gateway goes on without it, over reloads too.
 */
export async function openBus(
  broker: Broker | undefined,
  logger: Logger,
  { bus: memoryBus = createMemoryBus(logger), reachedBrokers }: OpenBusOptions,
): Promise<OpenedBus> {
  if (!broker) return { bus: memoryBus, close: () => {} }
  const { kind, address, setting } = broker
  let lastError: unknown
  let ready = false
  let state: BrokerState = { kind, connected: true }
  const refused = new AbortController()
  const outage = createOutage(
    logger,
    {
      down: `connection to ${kind} lost; until the connection is restored, this gateway does not exchange invalidation events with other gateways and does not serve cached responses`,
      up: `connection to ${kind} restored; live queries run again`,
    },
    { [kind]: address },
  )
  const logPeers = createPeersLog(logger, kind, () => state.connected)
  const bus = await broker.open({
    near: memoryBus,
    onError: logListenerError(logger),
    onState(next, error) {
      if (next === 'connected' || next === 'disconnected') setConnected(next === 'connected', error)
      else logPeers(next)
    },
  })

  function setConnected(connected: boolean, error: unknown): void {
    lastError = error ?? lastError
    state = connected ? { kind, connected } : { kind, connected, reason: reasonOf(error) }
    if (!ready) {
      if (isRefusal(error)) refused.abort()
      return
    }
    if (connected) outage.worked(0)
    else outage.failed(error, reasonOf)
  }

  const patience = AbortSignal.any([refused.signal, AbortSignal.timeout(CONNECT_TIMEOUT_MS)])
  ready = await unlessAborted(bus.ready, patience).then(
    () => true,
    () => false,
  )
  if (ready) reachedBrokers?.add(broker.identity)
  else if (reachedBrokers?.has(broker.identity)) {
    ready = true
    state = { kind, connected: false, reason: reasonOf(lastError) }
    outage.failed(lastError, reasonOf)
  } else {
    bus.close()
    throw mistakeAt(
      setting,
      `cannot connect to ${address} (${reasonOf(lastError)}); start ${NAMES[kind]}, or correct the address, the credentials, the TLS settings or the channel permissions`,
    )
  }
  return { bus, broker: () => state, close: () => bus.close() }
}

type PeersState = Exclude<BusState, 'connected' | 'disconnected'>

/** Logs whether the other gateways respond. */
function createPeersLog(
  logger: Logger,
  kind: string,
  isConnected: () => boolean,
): (state: PeersState) => void {
  let isMissed = false
  return (state) => {
    switch (state) {
      case 'incomplete':
        // All other gateways are missing while the broker is unreachable, which is logged elsewhere.
        if (isMissed || !isConnected()) return
        isMissed = true
        return logger.warn(
          'a gateway stopped responding, so its invalidation events may be missing; cached responses expire after 3 s until the gateway responds again or 10 minutes have passed',
        )
      case 'complete':
        if (!isMissed) return
        isMissed = false
        return logger.info(
          'all gateways respond again, except gateways that did not respond for 10 minutes; responses are cached for their full TTL',
        )
      case 'unconfirmed':
        if (!isConnected()) return
        return logger.warn(
          `${kind} did not accept an invalidation event in time, or a gateway did not apply the event in time; mutation responses no longer wait for all gateways, so other gateways can serve outdated data until they receive the event`,
        )
      case 'confirmed':
        return logger.info('mutation responses wait for all gateways again')
    }
  }
}

/** A bus for this process alone. */
export function createMemoryBus(logger: Logger): InvalidationBus {
  return createInvalidationBus({ onError: logListenerError(logger) })
}

function logListenerError(logger: Logger): (error: unknown) => void {
  return (error) => logger.error(error, 'an invalidation listener failed')
}

/** Nobody listens there, or the name is none: waiting would not help. */
function isRefusal(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND'
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'no response'
}
