import type { Random } from '@vinyasa/test-kit'
import type { GraphQLSchema } from 'graphql'
import { asked, withCode } from './draw-code.ts'
import { drawPointing, drawQuery } from './draw-operation.ts'
import type { Operation, ReadPlan, WorldPlan } from './plan.ts'

/** What is asked in a world; the first ones may be live. */
export interface Pool {
  readonly operations: readonly Operation[]
  readonly live: number
}

const SIZE = 14
const LIVE = 8
const POINTING = 11

export function drawPool(random: Random, built: GraphQLSchema, plan: WorldPlan): Pool {
  return plan.kind === 'callers' ? variesByPool(plan) : freePool(random, built, plan)
}

function freePool(random: Random, built: GraphQLSchema, { schema, settings }: WorldPlan): Pool {
  const ofSources = ({ source }: ReadPlan): boolean => source !== 'own'
  const pointing = new Set(
    schema.entities.flatMap(({ name, partners }) => (partners.length > 0 ? [name] : [])),
  )
  const isPointing = ({ type }: ReadPlan): boolean => pointing.size === 0 || pointing.has(type)
  const isByEntity = settings.cache?.strategy === 'entities'
  const declared = schema.code.filter(({ isDeclared }) => isDeclared)
  /** A run of a live query may read nothing that nobody declared. */
  const codedAt = (place: number, drawn: Operation): Operation => {
    const code = place < LIVE ? declared : schema.code
    return code.length > 0 ? withCode(random, code, drawn) : drawn
  }
  // Those of sources alone come first: they may be live.
  const operations = Array.from({ length: SIZE }, (_, place) => {
    const only = place < LIVE ? ofSources : place < POINTING ? undefined : isPointing
    const pointed = only === isPointing && isByEntity ? drawPointing(random, built, schema) : undefined
    const drawn = pointed ?? drawQuery(random, built, schema, only)
    return place % 3 === 0 ? drawn : codedAt(place, drawn)
  })
  return { operations, live: LIVE }
}

/** Each field of code alone, what sources give, and what statements by hand are about. */
function variesByPool({ schema }: WorldPlan): Pool {
  const operation = (selection: string): Operation => ({ head: '', selection, variables: undefined })
  const live = [
    ...schema.code.filter(({ isDeclared }) => isDeclared).map(asked),
    'ants { id text }',
    'bees { id text }',
  ]
  const others = [
    ...schema.code.filter(({ isDeclared }) => !isDeclared).map(asked),
    'fox(id: "f1") { text }',
    'named { text }',
    'either { ... on Fox { text } }',
  ]
  return { operations: [...live, ...others].map((field) => operation(`{ ${field} }`)), live: live.length }
}
