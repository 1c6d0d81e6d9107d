export { type Attachment, createAttachment } from './memory/attachment.ts'
export { BodyTooLarge, boundedFetch } from './http/bounded-fetch.ts'
export { canonicalJson } from './json/canonical-json.ts'
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
export { CLIENT, clientOf, nameClient, ownerOf } from './client.ts'
export { backgroundClock, type Clock, systemClock } from './time/clock.ts'
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
export { createExpiry, type Expiry } from './memory/expiry.ts'
export { keyed } from './memory/keyed.ts'
export { freshUntilOf, limitFreshness, namelessContext, openFreshness } from './http/freshness.ts'
export { copyJson, mergePatch } from './json/merge-patch.ts'
export { type Finding, findingsAt, findingsOf, formatFinding } from './options/finding.ts'
export { nearestNames } from './options/nearest-names.ts'
export { isPlainObject, isRecord } from './objects.ts'
export { OpenStreams } from './open-streams.ts'
export { PassingMap } from './memory/passing-map.ts'
export { publicExtensions } from './json/public-extensions.ts'
export { ByteCollector, isShredded } from './memory/collect-bytes.ts'
export { heldBytes } from './memory/held-bytes.ts'
export { createLedger, type Holding, type Ledger, processLedger } from './memory/ledger.ts'
export { createRecent } from './memory/recent.ts'
export { createRoom, notePlace, type Place, placeOf, type Room } from './memory/room.ts'
export { type Abortable, Ending, ENDING, endingOf, hasLeft, isSignal, signalOf } from './ending.ts'
export { onAbort } from './on-abort.ts'
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
  type AnyKnownOptions,
  type KnownOptions,
  refuseWrongOptions,
  wrongOption,
} from './options/check-options.ts'
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
export { isLiveRun, isNotFromHttp, liveMomentOf } from './ways-in.ts'
export { atWallTime, awake, sleep, unlessAborted, type WallTimer } from './time/waits.ts'
export {
  chosenParser,
  parserHooks,
  type PluginHooks,
  yogasExecutor,
  yogasPlugins,
  type YogasPlugins,
} from './yoga-internals.ts'
