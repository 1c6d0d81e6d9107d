import { deepStrictEqual } from 'node:assert/strict'
import { assert, asyncProperty, integer } from 'fast-check'
import {
  execute,
  type ExecutionResult,
  NoUnusedVariablesRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql'
import { describe, expect, it } from 'vitest'
import { allowDirectives } from '../src/directives.ts'
import { learnDocument } from '../src/document-cache.ts'
import { stripIncremental, toEagerDocument } from '../src/document.ts'
import { splitToStream } from '../src/eager.ts'
import { executeStreaming } from '../src/execution/execute-streaming.ts'
import { isAsyncIterable } from '../src/execution/maybe-promise.ts'
import { resolveOptions } from '../src/options.ts'
import { mergeParts, type Part } from '../src/parts.ts'
import { createWireFormatter } from '../src/wire-format.ts'
import { type Merged, mergePatchesFormat, mergePendingFormat } from './support/merge-wire.ts'
import {
  documentVariables,
  generateDocument,
  generateSchema,
  type World,
} from './support/random-operation.ts'

// The same cases every time, unless PROPERTY_SEED names others; PROPERTY_RUNS=5000 for a long run. In three worlds that
// makes 1,020 schemas, documents and results for each strategy, each in both formats.
const seed = Number(process.env['PROPERTY_SEED'] ?? 20_220_824)
const numRuns = Number(process.env['PROPERTY_RUNS'] ?? 340)
const options = resolveOptions({ maxTotalTimeoutMs: 0, fragmentTimeoutMs: 0, maxPatches: 10_000 })

// Failing at once while others are under way is left out: graphql 16's own `execute` lets their rejections escape.
const worlds: Record<string, World> = {
  'where nothing fails': { failing: 0, missing: 0.1, waiting: 0.3 },
  'where fields fail at once': { failing: 0.06, missing: 0.1, waiting: 0 },
  'where fields fail later': { failing: 0.06, missing: 0.1, waiting: 1 },
}

const plainExecute = allowDirectives(execute)
const rules = specifiedRules.filter((rule) => rule !== NoUnusedVariablesRule)

const strategies = ['eager', 'eager, from a stored result', 'streaming'] as const

async function run(strategy: (typeof strategies)[number], world: World, seed: number, size: number) {
  const generated = generateSchema(seed, world)
  const { schema } = generated
  const text = generateDocument(generated, seed ^ 0x5eed, size)
  const document = parse(text)
  // On graphql 17 and 16 alike a document that does not validate is the generator's fault.
  same(validate(schema, document, rules), [], text)
  const args = { schema, rootValue: { seed }, contextValue: {}, variableValues: documentVariables }
  const executed = async (what: typeof document) =>
    (await plainExecute({ ...args, document: what })) as ExecutionResult
  const plain = await executed(stripIncremental(document))
  const answer =
    strategy === 'streaming'
      ? await executeStreaming({ ...args, document }, options)
      : splitToStream({
          result: strategy === 'eager' ? await executed(toEagerDocument(document, schema)) : plain,
          document: learnDocument(document),
          variables: documentVariables,
          schema,
          maxPatches: options.maxPatches,
        })
  const parts: Part[] = []
  if (isAsyncIterable(answer)) for await (const part of answer) parts.push(part as Part)
  return { text, plain: json(plain), answer: json(answer), parts, isStream: isAsyncIterable(answer) }
}

function json(value: unknown): any {
  return JSON.parse(JSON.stringify(value))
}

/** Non-null errors stop at the fragment's border; the plain result has the null further up. */
function withNullsOf(merged: Merged, plain: any): any {
  let { data } = merged
  for (const path of merged.failed) {
    const depth = [...path.keys(), path.length].find(
      (length) => at(plain.data, path.slice(0, length)) === null,
    )
    if (depth === undefined)
      throw new Error(`the fragment at ${path.join('.')} failed, but nothing is null there`)
    if (depth === 0) data = null
    else {
      const parent = at(data, path.slice(0, depth - 1))
      const key = path[depth - 1]
      if (parent !== null && key !== undefined) parent[key] = null
    }
  }
  return data
}

function at(root: any, path: readonly (string | number)[]): any {
  return path.reduce<any>((place, segment) => (place === null ? null : place?.[segment]), root)
}

function errorSet(errors: readonly any[] = []): string[] {
  return [...new Set(errors.map(({ path, message }) => JSON.stringify([path, message])))].sort()
}

/** Every error lies at the null that stands for it: none has taken more with it. */
function isLocal(plain: any): boolean {
  return (plain.errors ?? []).every(
    ({ path }: any) => path && at(plain.data, path.slice(0, -1)) !== null && at(plain.data, path) === null,
  )
}

function same(actual: unknown, expected: unknown, document: string): void {
  try {
    deepStrictEqual(actual, expected)
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${document}`, { cause: error })
  }
}

describe.each(strategies)('%s: merging all parts equals the plain result', (strategy) => {
  it.each(Object.entries(worlds))('%s', { timeout: 600_000 }, async (_, world) => {
    let streams = 0
    let patches = 0
    await assert(
      asyncProperty(integer(), integer({ min: 0, max: 60 }), async (seed, size) => {
        const { text, plain, answer, parts, isStream } = await run(strategy, world, seed, size)
        if (!isStream) {
          same(answer.data, plain.data, text)
          if (isLocal(plain)) same(errorSet(answer.errors), errorSet(plain.errors), text)
          return
        }
        streams++
        for (const format of ['patches', 'pending'] as const) {
          const formatter = createWireFormatter(format, (error) => error)
          const wire = parts.map((part) => json(formatter(part)))
          const merged = format === 'patches' ? mergePatchesFormat(wire) : mergePendingFormat(wire)
          if (format === 'patches') patches += wire.flatMap((part) => part.incremental ?? []).length
          const data = withNullsOf(merged, plain)
          same(data, plain.data, text)
          if (isLocal(plain)) same(errorSet(merged.errors), errorSet(plain.errors), text)
          if (merged.failed.length === 0) {
            const own = json(await mergeParts(iterate(parts)))
            same(own.data, plain.data, text)
          }
        }
      }),
      { numRuns, seed },
    )
    // A generator that seldom defers would prove nothing.
    expect(streams).toBeGreaterThan(numRuns / 5)
    expect(patches).toBeGreaterThan(numRuns / 2)
  })
})

async function* iterate(parts: readonly Part[]): AsyncGenerator<Part> {
  yield* parts
}
