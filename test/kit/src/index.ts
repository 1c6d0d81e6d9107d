export { type Certificate, makeCertificate } from './certificate.ts'
export { type CodeBlock, codeBlocks } from './code-blocks.ts'
export { type Closable, createDisposables, type Disposables } from './disposables.ts'
export { createFakeClock, type FakeClock } from './fake-clock.ts'
export { ignoreForgottenErrors } from './forgotten-errors.ts'
export { freePort, isListening } from './free-port.ts'
export { type GrpcBackend, type GrpcBackendOptions, grpcError, startGrpcBackend } from './grpc-backend.ts'
export type { GrpcCallContext, GrpcHandler, RecordedCall } from './grpc-call.ts'
export { findCircles, importsUnder, sourceFilesUnder, type SourceImport, targetOf } from './imports.ts'
export { AUDIENCE, type Issuer, startIssuer, type TokenOptions } from './issuer.ts'
export {
  followLiveEvents,
  followLiveFrames,
  type LiveStreamOptions,
  type LiveUpdate,
} from './live-streams.ts'
export {
  type MultipartPart,
  type MultipartResponse,
  type RawChunk,
  type RawRequest,
  requestMultipart,
} from './multipart.ts'
export { describeWithNginx, findNginx, type Nginx, type NginxOptions, startNginx } from './nginx.ts'
export { parseProtos, type ProtoFiles } from './protos.ts'
export {
  connectRawWebSocket,
  type RawClose,
  type RawFrame,
  type RawWebSocket,
  type RawWebSocketOptions,
  UpgradeRefused,
} from './raw-web-socket.ts'
export { createRandom, type Random } from './random.ts'
export { describeWith, describeWithRedis, findRedisServer, type RedisServer, startRedis } from './redis.ts'
export {
  type RecordedRequest,
  type RestAnswer,
  type RestBackend,
  type RestHandler,
  startRestBackend,
} from './rest-backend.ts'
export { type ProcessExit, spawnProcess, type SpawnedProcess, type SpawnOptions } from './spawned.ts'
export { Tally } from './tally.ts'
export { startTcpServer, type TcpServer, type TcpServerOptions } from './tcp-server.ts'
export { waitUntil, type WaitUntilOptions, withTimeout } from './wait.ts'
export {
  startRedisCluster,
  startSentinelRedis,
  startTlsRedis,
  type RedisCluster,
  type SentinelRedis,
  type TlsRedis,
} from './redis-topologies.ts'
export { type Network, type NetworkOptions, startNetwork } from './network.ts'
export { startNats, type NatsOptions, type NatsServer } from './nats.ts'
export type { RestartableServer } from './restartable.ts'
export { survivingShare } from './surviving-share.ts'
export { temporaryFolder } from './temporary-folder.ts'
