import { expect, it } from 'vitest'
import * as base from '../src/index.ts'

it('exports what it says', () => {
  expect(Object.keys(base).sort()).toEqual([
    'LEAST_POLL_INTERVAL_MS',
    'LIVE_OPTIONS',
    'OpenStreams',
    'SLICE_BYTES',
    'VOLATILITY_NAMES',
    'after',
    'atWallTime',
    'attempt',
    'backgroundClock',
    'canonicalJson',
    'createAttachment',
    'createRecent',
    'createRoom',
    'createTurns',
    'isAsyncIterable',
    'isPlainObject',
    'isPromise',
    'isRecord',
    'jsonQuality',
    'nearestNames',
    'notePlace',
    'onScriptShellEnd',
    'parseAccept',
    'placeOf',
    'refuseUnknownOptions',
    'sleep',
    'stringifySlices',
    'systemClock',
    'toVolatility',
    'unknownOption',
    'writeInSlices',
  ])
})
