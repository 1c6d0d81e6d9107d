export {
  type Attachment,
  createAttachment,
  createExpiry,
  createRecent,
  type Expiry,
  keyed,
  PassingMap,
} from './memory/keyed.ts'
export { BodyTooLarge, boundedFetch } from './http/bounded-fetch.ts'
export {
  canonicalJson,
  copyJson,
  isPlainObject,
  isRecord,
  mergePatch,
  publicExtensions,
} from './json/values.ts'
export {
  endOfText,
  exceededLimit,
  JsonByte,
  type JsonLimits,
  kindOf,
  MAX_BROKER_BYTES,
  parseBrokerJson,
  parsePeerJson,
} from './json/scan-json.ts'
export { headerList, jsonQuality, keyedByHeader, type MediaRange, parseAccept } from './accept.ts'
export { CLIENT, clientOf, isLiveRun, isNotFromHttp, liveMomentOf, nameClient, ownerOf } from './client.ts'
export {
  atWallTime,
  awake,
  backgroundClock,
  type Clock,
  sleep,
  systemClock,
  unlessAborted,
  type WallTimer,
} from './time/clock.ts'
export { Callers, FairQueue, NO_PLACE, ownerOfWork } from './fair-queue.ts'
export { after, attempt, isAsyncIterable, isPromise, type MaybePromise } from './maybe-promise.ts'
export {
  LEAST_POLL_INTERVAL_MS,
  LIVE_OPTIONS,
  type LiveOptions,
  toVolatility,
  VOLATILITY_NAMES,
  type Volatility,
} from './options/live-options.ts'
export { freshUntilOf, limitFreshness, namelessContext, openFreshness } from './http/freshness.ts'
export {
  type AnyKnownOptions,
  type Finding,
  findingsAt,
  findingsOf,
  formatFinding,
  type KnownOptions,
  nearestNames,
  refuseWrongOptions,
  wrongOption,
} from './options/check-options.ts'
export { OpenStreams } from './open-streams.ts'
export { ByteCollector, isShredded } from './memory/collect-bytes.ts'
export { createLedger, heldBytes, type Holding, type Ledger, processLedger } from './memory/ledger.ts'
export { createRoom, notePlace, type Place, placeOf, type Room } from './memory/room.ts'
export { type Abortable, Ending, ENDING, endingOf, hasLeft, isSignal, onAbort, signalOf } from './ending.ts'
export { onScriptShellEnd } from './script-shell.ts'
export { type JsonText, stringifySlices, writeInSlices } from './json/stringify-slices.ts'
export { createSparseReports, type SparseReports } from './sparse-reports.ts'
export {
  type HeldReply,
  LONG_REPLY_BYTES,
  type ReplyFlow,
  ReplyMemory,
  unpack,
  type Unpacked,
  type UnpackOptions,
} from './memory/reply-memory.ts'
export { createTurns, drained, SLICE_BYTES, TURN_MS, type Turns } from './time/turns.ts'
export {
  above,
  Allowed,
  atLeast,
  between,
  flag,
  oneOf,
  optionsList,
  text,
  texts,
  textsByName,
  valuesByName,
  wholeAtLeast,
} from './options/allowed.ts'
export {
  chosenParser,
  parserHooks,
  type PluginHooks,
  yogasExecutor,
  yogasPlugins,
  type YogasPlugins,
} from './yoga-internals.ts'
