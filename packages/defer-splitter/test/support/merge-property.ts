import { deepStrictEqual } from 'node:assert/strict'
import {
  execute,
  type ExecutionResult,
  type GraphQLSchema,
  NoUnusedVariablesRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql'
import * as graphql from 'graphql'
import { KnownDocument } from '../../src/document/document.ts'
import { splitToStream } from '../../src/eager/eager.ts'
import { executeStreaming } from '../../src/execution/streaming-run.ts'
import { isAsyncIterable } from '@vinyasa/core'
import { resolveOptions } from '../../src/options.ts'
import type { Part } from '../../src/parts.ts'
import type { ClientMerger } from './client-mergers.ts'
import type { Merged } from './merge-wire.ts'
import { documentVariables, generateDocument, generateSchema, type World } from './random-operation.ts'

const options = resolveOptions({ maxTotalTimeoutMs: 0, fragmentTimeoutMs: 0 }, { maxPatches: 10_000 })

// Failing at once while others are under way is left out: graphql 16's own `execute` lets their rejections escape.
export const worlds: Record<string, World> = {
  'where nothing fails': { failing: 0, missing: 0.1, waiting: 0.3 },
  'where fields fail at once': { failing: 0.06, missing: 0.1, waiting: 0 },
  'where fields fail later': { failing: 0.06, missing: 0.1, waiting: 1 },
  'where many fields fail': { failing: 0.2, missing: 0.05, waiting: 1 },
}

/** graphql 17 executes documents of schemas with `@defer` by another function. */
const { experimentalExecuteIncrementally: plainExecute = execute } = graphql as unknown as {
  readonly experimentalExecuteIncrementally?: typeof execute
}
const rules = specifiedRules.filter((rule) => rule !== NoUnusedVariablesRule)

export const strategies = ['eager', 'eager, from a stored result', 'streaming'] as const

export type Strategy = (typeof strategies)[number]

export interface Run {
  readonly schema: GraphQLSchema
  readonly text: string
  readonly plain: any
  readonly answer: any
  readonly parts: readonly Part[]
  readonly isStream: boolean
}

/** A random query, answered plainly and in parts. `rewrite` is what a client makes of its text before it sends it. */
export async function run(
  strategy: Strategy,
  world: World,
  seed: number,
  size: number,
  rewrite: (schema: GraphQLSchema, text: string) => string = (_, text) => text,
): Promise<Run> {
  const generated = generateSchema(seed, world)
  const { schema } = generated
  const text = rewrite(schema, generateDocument(generated, seed ^ 0x5eed, size))
  const document = parse(text)
  // On graphql 17 and 16 alike a document that does not validate is the generator's fault.
  same(validate(schema, document, rules), [], text)
  const args = { schema, rootValue: { seed }, contextValue: {}, variableValues: documentVariables }
  const executed = async (what: typeof document) =>
    (await plainExecute({ ...args, document: what })) as ExecutionResult
  const known = new KnownDocument(document)
  const plain = await executed(known.stripped)
  const answer =
    strategy === 'streaming'
      ? await executeStreaming({ ...args, document }, options, known)
      : splitToStream({
          result: strategy === 'eager' ? await executed(known.eager(schema)) : plain,
          document: known,
          variables: documentVariables,
          schema,
          maxPatches: options.maxPatches,
        })
  const parts: Part[] = []
  if (isAsyncIterable(answer)) for await (const part of answer) parts.push(part as Part)
  return { schema, text, plain: json(plain), answer: json(answer), parts, isStream: isAsyncIterable(answer) }
}

export function json(value: unknown): any {
  return JSON.parse(JSON.stringify(value))
}

/** The nulls that the plain result has for these errors: a null stops at the border of the fragment that failed. */
function withNullsFor(errors: readonly any[], given: any, plain: any): any {
  let data = structuredClone(given)
  for (const { path = [] } of errors) {
    const depth = [...path.keys(), path.length].find(
      (length) => at(plain.data, path.slice(0, length)) === null,
    )
    if (depth === undefined) throw new Error(`nothing is null for the error at ${path.join('.')}`)
    if (depth === 0) data = null
    else {
      const parent = at(data, path.slice(0, depth - 1))
      const key = path[depth - 1]
      if (parent !== null && parent !== undefined && Object.hasOwn(parent, key)) parent[key] = null
    }
  }
  return data
}

function at(root: any, path: readonly (string | number)[]): any {
  return path.reduce<any>((place, segment) => (place === null ? null : place?.[segment]), root)
}

/** As a bag: no error is told twice. */
export function errorBag(errors: readonly any[] = []): string[] {
  return errors.map(({ path, message }) => JSON.stringify([path, message])).sort()
}

/** The errors whose null came after a list, which stays, or after an object, which some clients keep. */
function lateNulls({ data }: Merged, plain: any, merger: ClientMerger | undefined): any[] {
  return (plain.errors ?? []).filter(({ path }: any) => {
    const nullAt = path.slice(
      0,
      [...path.keys()].find((length) => at(plain.data, path.slice(0, length)) === null),
    )
    const kept = at(data, nullAt)
    return Array.isArray(kept) || (merger?.takesLaterNulls === false && kept !== null)
  })
}

export function matches(merged: Merged, plain: any, merger: ClientMerger | undefined, text: string): void {
  const { failed, errors } = merged
  const failures = failed.flatMap((fragment) => fragment.errors)
  // Where a client makes null of more than the plain result does, nothing can be compared.
  if (merger?.failedFragment === 'null' && failed.some(({ path }) => at(plain.data, path) !== null)) return
  same(withNullsFor([...failures, ...lateNulls(merged, plain, merger)], merged.data, plain), plain.data, text)
  if (isLocal(plain) && failed.length === 0) same(errorBag(errors), errorBag(plain.errors), text)
}

/** Every error lies at the null that stands for it: none has taken more with it. */
export function isLocal(plain: any): boolean {
  return (plain.errors ?? []).every(
    ({ path }: any) => path && at(plain.data, path.slice(0, -1)) !== null && at(plain.data, path) === null,
  )
}

export function same(actual: unknown, expected: unknown, document: string): void {
  try {
    deepStrictEqual(actual, expected)
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${document}`, { cause: error })
  }
}
