import { constant, constantFrom, record } from 'fast-check'
import { Code, type Piece } from '../config-file.ts'
import type { Feature, Value } from '../feature.ts'
import { isFromCache, outcomesOf } from '../judge.ts'
import { WATCHED } from '../operations.ts'
import type { Run } from '../run.ts'
import { type User, USERS } from '../users.ts'

const drawn = (strategy: string): NonNullable<Value['config']> => {
  return () =>
    record({
      responseCache: record({
        strategy: constant(strategy),
        defaultTtlMs: constantFrom(60_000, 3_600_000),
        staleWhileRevalidateMs: constantFrom(0, 60_000),
        maxSize: constantFrom(1, 10_000),
        maxBytes: constantFrom(100_000, 67_108_864),
        prefix: constantFrom('', 'pairs'),
        varyHeaders: constantFrom(['Authorization'], [], ['X-Lang'], ['Authorization', 'x-tenant']),
      }),
      idFields: constantFrom(['id'], ['isbn', 'id']),
    })
}

/** One user asks the same until it is a hit, in each worker if need be. */
const askAgain: NonNullable<Value['during']> = async ({ ask, keep }) => {
  return async () => {
    const outcomes: string[] = []
    for (let asked = 0; asked < 8 && !outcomes.includes('HIT'); asked++)
      outcomes.push(...outcomesOf(await ask(USERS[0] as User, WATCHED)))
    keep('cache', outcomes)
  }
}

/** What is asked again is a hit, and neither mutations nor errors ever are. */
function* observe({ sent, kept }: Run): Generator<string> {
  for (const one of sent) {
    for (const [index, { operation, answer }] of one.operations.entries()) {
      if (!isFromCache(one, index)) continue
      if (operation.type === 'mutation') yield `a mutation from the cache: ${operation.name}`
      if (answer.errors) yield `an error from the cache: ${operation.name} by ${one.way}`
    }
  }
  const outcomes = kept.get('cache') as readonly string[]
  if (!outcomes.includes('HIT')) yield `what was asked again is no hit: ${outcomes.join(', ')}`
}

/** Of it nothing is kept, by the setting `enabled`. */
const KEPT_OUT = 'south'

/** What code of the config decides. */
const OWN_CODE: Piece = {
  responseCache: {
    strategy: new Code("() => 'all'"),
    session: new Code("({ request }) => request.headers.get('x-lang')"),
    enabled: new Code(`({ request }) => request.headers.get('x-tenant') !== '${KEPT_OUT}'`),
  },
}

export const cache: Feature = {
  name: 'cache',
  settings: ['responseCache', 'idFields'],
  values: [
    {
      name: 'off',
      *observe({ sent }) {
        const said = sent.find(({ answerHeaders }) => answerHeaders.has('x-cache'))
        if (said) yield `x-cache without a cache: ${said.answerHeaders.get('x-cache')}`
      },
    },
    { name: 'types', config: drawn('types'), during: askAgain, observe },
    { name: 'entities', config: drawn('entities'), during: askAgain, observe },
    { name: 'all', config: drawn('all'), during: askAgain, observe },
    {
      name: 'endless',
      config: () => constant({ responseCache: { defaultTtlMs: Number.MAX_SAFE_INTEGER } }),
      during: askAgain,
      observe,
    },
    {
      name: 'own code',
      config: () => constant(OWN_CODE),
      during: askAgain,
      *observe(run) {
        yield* observe(run)
        for (const one of run.sent)
          if (one.headers['x-tenant'] === KEPT_OUT && outcomesOf(one).some((outcome) => outcome !== 'BYPASS'))
            yield `what code keeps out of the cache is in it: ${one.operations[0]?.operation.name} by ${one.way}, ${outcomesOf(one).join()}`
      },
    },
    {
      name: 'root',
      config: () => constant<Piece>({ responseCache: { ttlMsBySchemaCoordinate: { Query: 0 } } }),
      *observe({ sent }) {
        for (const one of sent)
          for (const [index, { operation }] of one.operations.entries())
            if (isFromCache(one, index))
              yield `what the root type keeps out is from the cache: ${operation.name} by ${one.way}`
      },
    },
  ],
}

export const clientMaxAge: Feature = {
  name: 'clientMaxAge',
  settings: ['responseCache'],
  values: [
    { name: 'off' },
    {
      name: 'on',
      fits: (row) => row['cache'] !== 'off',
      config: () => constant({ responseCache: { clientMaxAge: true } }),
      *observe({ sent }) {
        for (const { answerHeaders, status, target } of sent) {
          const control = answerHeaders.get('cache-control') ?? ''
          const age = /max-age=(\S+?)(,|$)/.exec(control)?.[1]
          if (age !== undefined && !/^\d+$/.test(age)) yield `max-age is no number of seconds: ${control}`
          if (age !== undefined && age !== '0' && status !== 200)
            yield `an error may be reused: ${target} ${control}`
        }
      },
    },
  ],
}
