import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sourceFilesUnder } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const texts = new Map(
  ['packages', 'apps/gateway']
    .flatMap((folder) => sourceFilesUnder(root, folder))
    .map((file) => [file, readFileSync(`${root}/${file}`, 'utf8')]),
)

/** Rules that stood in several places once, each with what a second copy looks like and the file that has it. */
const RULES: readonly (readonly [rule: string, copy: RegExp, place: string, sample: string])[] = [
  [
    'what a run of a live query is',
    /'liveQuery' in |\b[cC]ontext(?:\.liveQuery\b|\['liveQuery'\])|\.liveQuery\) *$|liveQuery\?: unknown/m,
    'packages/core/src/client.ts',
    "return 'liveQuery' in context",
  ],
  [
    'which text equal values have',
    /Object\.(?:keys|entries)\((?:value|args|variables)\)\s*(?:\.filter\([^\n]*\)\s*)?\.(?:sort|toSorted)\(/,
    'packages/core/src/json/values.ts',
    'const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))',
  ],
  [
    'where a patch of a deferred answer goes',
    /\blist\[start \+ \w+\] = |function mergeInto\(/,
    'packages/core/src/json/values.ts',
    'for (const [offset, item] of items.entries()) list[start + offset] = item',
  ],
  [
    'who stops waiting for a promise when a signal aborts',
    /promise\.then\(resolve, reject\)|pending\.then\(resolve, reject\)|Promise\.race\(\[promise, left\]\)/,
    'packages/core/src/time/clock.ts',
    'promise.then(resolve, reject).finally(() => undefined)',
  ],
]

describe('a rule stands in one place', () => {
  it.each(RULES)('%s', (_, copy, place, sample) => {
    expect(copy.test(sample)).toBe(true)
    expect([...texts].flatMap(([file, text]) => (copy.test(text) ? [file] : []))).toEqual([place])
  })
})
