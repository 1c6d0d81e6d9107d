import { systemClock } from '@vinyasa/base'
import {
  Client,
  compressionAlgorithms,
  connectivityState,
  credentials,
  Metadata,
  type ChannelCredentials,
  type ChannelOptions as GrpcChannelOptions,
} from '@grpc/grpc-js'
import type { ResolvedEndpoint, TlsOptions } from '@vinyasa/grpc-transport'

/** One connection, replaced when it gets stuck. */
export interface Connection {
  readonly client: Client
  active: number
  /**
   * Call when a call begins: `giveUp` is called when the connection does not come to stand in time.
   * The returned function ends the watch.
   */
  watch(giveUp: () => void): () => void
  close(): void
}

export function createConnection(endpoint: ResolvedEndpoint): Connection {
  const { connectTimeoutMs = 900 } = endpoint.channel
  const options = toChannelOptions(endpoint)
  const open = (): Client => new Client(endpoint.address, toCredentials(endpoint.tls), options)
  let client = open()
  const waiting = new Set<() => void>()
  let timer: unknown

  const state = (): connectivityState => client.getChannel().getConnectivityState(false)

  /** A peer that accepts TCP but never speaks HTTP/2 holds grpc-js in CONNECTING, and every later call with it. */
  function replaceIfStuck(): void {
    timer = undefined
    const calls = [...waiting]
    waiting.clear()
    if (state() !== connectivityState.CONNECTING) return
    const stuck = client
    client = open()
    for (const giveUp of calls) giveUp()
    stuck.close()
  }

  return {
    active: 0,
    get client() {
      return client
    },
    watch(giveUp) {
      if (connectTimeoutMs === 0 || state() === connectivityState.READY) return () => {}
      waiting.add(giveUp)
      timer ??= systemClock.setTimeout(replaceIfStuck, connectTimeoutMs)
      return () => waiting.delete(giveUp)
    },
    close() {
      systemClock.clearTimeout(timer)
      client.close()
    },
  }
}

function toChannelOptions({ channel, tls }: ResolvedEndpoint): GrpcChannelOptions {
  const { keepalive, maxReceiveBytes, maxSendBytes, compression, raw = {} } = channel
  return {
    // A connection of its own: shared subchannels would put all of a pool on one socket.
    'grpc.use_local_subchannel_pool': 1,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.min_reconnect_backoff_ms': 100,
    // Jitter adds a fifth: a restarted backend is found again within a second.
    'grpc.max_reconnect_backoff_ms': 700,
    'grpc.enable_retries': 0,
    'grpc.service_config': '{"loadBalancingConfig":[{"round_robin":{}}]}',
    'grpc.max_send_message_length': maxSendBytes ?? -1,
    ...(maxReceiveBytes === undefined ? {} : { 'grpc.max_receive_message_length': maxReceiveBytes }),
    ...(compression === undefined
      ? {}
      : { 'grpc.default_compression_algorithm': compressionAlgorithms[compression] }),
    ...(keepalive
      ? { 'grpc.keepalive_time_ms': keepalive.timeMs, 'grpc.keepalive_timeout_ms': keepalive.timeoutMs }
      : {}),
    ...(tls?.serverName === undefined
      ? {}
      : { 'grpc.ssl_target_name_override': tls.serverName, 'grpc.default_authority': tls.serverName }),
    ...raw,
  }
}

function toCredentials(tls: TlsOptions | undefined): ChannelCredentials {
  if (!tls) return credentials.createInsecure()
  const pem = (value: string | Uint8Array | undefined): Buffer | null =>
    value === undefined ? null : Buffer.from(value)
  return credentials.createSsl(pem(tls.ca), pem(tls.key), pem(tls.cert))
}

export function toMetadata(entries: readonly (readonly [string, string | Uint8Array])[]): Metadata {
  const metadata = new Metadata()
  for (const [name, value] of entries)
    metadata.add(name, typeof value === 'string' ? value : Buffer.from(value))
  return metadata
}
