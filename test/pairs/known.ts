import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Operation, WATCHED, WATCHED_DEFERRED } from './operations.ts'
import type { Sent, Way } from './run.ts'

/** What an operation may enter that was asked before. `prepared` is where it should. */
export type Phase = 'parse' | 'validate' | 'prepared'

/** Where a feature may send a known operation by what it is; `literals`: those whose values alone are known enter all. */
export type Detour = 'parse' | 'validate' | 'ordinary' | 'literals'

/** Requests for something known, and how often all of them together entered each phase. */
export interface KnownAsked {
  readonly way: Way
  /** `document`: the same each time; `literals`: with another value in its text each time. */
  readonly what: 'document' | 'literals'
  readonly times: number
  readonly entered: Readonly<Record<Phase, number>>
}

/** Requests until every worker knows it, and those that are counted. */
const BEFORE = 8
const TIMES = 4

/** Asks the same by each way in, and counts what it enters; and a document whose values alone are others. */
export async function askKnown(
  ways: readonly Way[],
  folder: string,
  send: (operation: Operation, way: Way) => Promise<Sent>,
): Promise<readonly KnownAsked[]> {
  const asked: KnownAsked[] = []
  async function count(what: KnownAsked['what'], way: Way, draw: (at: number) => Operation): Promise<void> {
    for (let at = 0; at < BEFORE; at++) await send(draw(at), way)
    const before = phasesIn(folder)
    for (let at = 0; at < TIMES; at++) await send(draw(BEFORE + at), way)
    const after = phasesIn(folder)
    const times = (phase: Phase): number => after[phase] - before[phase]
    const entered = { parse: times('parse'), validate: times('validate'), prepared: times('prepared') }
    asked.push({ way, what, times: TIMES, entered })
  }
  for (const way of ways)
    await count('document', way, () => (way === 'multipart' ? WATCHED_DEFERRED : WATCHED))
  if (ways.includes('post')) await count('literals', 'post', withValues)
  return asked
}

/** Two of the books, others each time. */
function withValues(at: number): Operation {
  const [one, other] = [1 + (at % 4), 1 + Math.floor(at / 4)]
  return {
    name: 'Values',
    type: 'query',
    text: `{ book(id: "${one}") { title } other: book(id: "${other}") { title } }`,
  }
}

/** How often each phase was entered so far, by all processes of the gateway. */
function phasesIn(folder: string): Record<Phase, number> {
  const counts = { parse: 0, validate: 0, prepared: 0 }
  for (const line of readFileSync(join(folder, 'phases'), 'utf8').split('\n'))
    if (line !== '') counts[line as Phase]++
  return counts
}
