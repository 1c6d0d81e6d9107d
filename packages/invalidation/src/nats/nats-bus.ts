import { backgroundClock, type KnownOptions, refuseWrongOptions, sleep } from '@vinyasa/core'
import { setImmediate } from 'node:timers/promises'
import {
  AuthorizationError,
  connect,
  PermissionViolationError,
  UserAuthenticationExpiredError,
  type ConnectionOptions,
  type NatsConnection,
  type Status,
  type Subscription,
} from '@nats-io/transport-node'
import {
  createBrokerBus,
  type BrokerBus,
  type BrokerBusOptions,
  type BrokerClient,
  type BrokerLink,
} from '../bus/broker-bus.ts'
import { type BusInternals, DISTRIBUTED_OPTIONS } from '../bus/distributed-bus.ts'

const PULSE_MS = 1000
const MAX_RETRY_MS = 1000
/** A batch without events and without a sender. */
const NOTHING = JSON.stringify({ events: [] })

export interface NatsInvalidationBusOptions extends BrokerBusOptions {
  /**
   * URLs of one or more servers, for example `nats://host:4222`. The client discovers the other servers of the
   * cluster.
   */
  readonly servers: string | readonly string[]
  /** Additional options of the NATS client, for example `user`, `pass`, `token` or `tls`. */
  readonly nats?: ConnectionOptions | undefined
}

const NAMES: KnownOptions<NatsInvalidationBusOptions> = { ...DISTRIBUTED_OPTIONS, servers: true, nats: true }

/**
 * Creates an invalidation bus over NATS, with `channel` as the subject. The user needs permission to publish and to
 * subscribe to `<channel>` and `<channel>.*`. The bus stays disconnected until its next connection if the server
 * refuses one of them. See {@link BrokerBus}.
 */
export function createNatsInvalidationBus(options: NatsInvalidationBusOptions): BrokerBus {
  refuseWrongOptions('createNatsInvalidationBus', options, NAMES)
  return openNatsBus(options)
}

export function openNatsBus(options: NatsInvalidationBusOptions, internals?: BusInternals): BrokerBus {
  const { servers, nats = {}, ...rest } = options
  return createBrokerBus(rest, (link) => openNats(link, { ...nats, servers: [servers].flat() }), internals)
}

function openNats(link: BrokerLink, options: ConnectionOptions): BrokerClient {
  const closing = new AbortController()
  const { signal } = closing
  let connection: NatsConnection | undefined

  async function open(): Promise<void> {
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        connection = await connect({
          timeout: PULSE_MS,
          reconnectTimeWait: MAX_RETRY_MS / 4,
          ...options,
          noEcho: true,
          maxReconnectAttempts: -1,
          pingInterval: PULSE_MS,
          maxPingOut: 2,
        })
        if (signal.aborted) return await connection.close()
        attempt = 0
        await follow(connection, link)
        // The client stops reconnecting after two refused logins.
        link.disconnected(await connection.closed())
      } catch (error) {
        link.disconnected(error)
      }
      const pauseMs = Math.min(50 * 2 ** Math.min(attempt, 10), MAX_RETRY_MS)
      await sleep(backgroundClock, pauseMs, signal)
    }
  }

  /** Closes the connection. The last messages are sent first, for at most `PULSE_MS`. */
  async function leave(left: NatsConnection): Promise<void> {
    await Promise.race([left.flush(), sleep(backgroundClock, PULSE_MS)]).catch(() => {})
    await left.close()
  }

  async function publish(channel: string, text: string, isAwaited: boolean): Promise<boolean> {
    // The client would keep the message and all later messages until it is connected. Other processes will detect the
    // gap by then.
    if (!link.isConnected || !connection) return false
    try {
      connection.publish(channel, text)
      // The broker responds to this after all earlier messages.
      if (isAwaited) await connection.flush()
      return true
    } catch {
      // The connection was closed in the meantime.
      return false
    }
  }

  void open()
  return {
    publish,
    close() {
      closing.abort()
      if (connection && !connection.isClosed()) void leave(connection)
    },
  }
}

/** Returns whether a subject is the channel, or the channel of one process. */
function isOf(channel: string, subject: string): boolean {
  return subject === channel || subject.startsWith(`${channel}.`)
}

/** Reports the state of a connection to the bus until the connection is closed. */
async function follow(connection: NatsConnection, link: BrokerLink): Promise<void> {
  const [channel] = link.channels
  const subscriptions = new Map<string, Subscription>()
  let refusal: Error | undefined

  function refuse(error: Error): void {
    refusal = error
    link.disconnected(error)
  }

  async function begin(): Promise<void> {
    refusal = undefined
    // A refused subscription is closed. The client restores the remaining subscriptions automatically.
    for (const subject of link.channels) {
      if (subscriptions.get(subject)?.isClosed() === false) continue
      const subscription = connection.subscribe(subject, {
        callback: (error, message) => (error ? refuse(error) : link.hear(message.data)),
      })
      subscriptions.set(subject, subscription)
    }
    connection.publish(channel, NOTHING)
    await connection.flush()
    await link.catchUp()
    // The client reports a refusal one tick later than the server's next response.
    await setImmediate()
    if (!refusal) link.connected()
  }

  function read(status: Status): void {
    switch (status.type) {
      case 'disconnect':
      case 'staleConnection':
        return link.disconnected(new Error(`NATS: ${status.type}`))
      case 'reconnect':
        return void begin().catch(link.disconnected)
      case 'error':
        return readError(status.error)
      default:
    }
  }

  function readError(error: Error): void {
    if (error instanceof PermissionViolationError && isOf(channel, error.subject)) refuse(error)
    else if (error instanceof AuthorizationError || error instanceof UserAuthenticationExpiredError)
      link.disconnected(error)
    else link.onError(error)
  }

  const statuses = connection.status()
  void begin().catch(link.disconnected)
  for await (const status of statuses) read(status)
}
