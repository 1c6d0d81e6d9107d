import { constant, constantFrom, record } from 'fast-check'
import { CLIENT_HEADER } from '../client-header.ts'
import type { Piece } from '../config-file.ts'
import type { Feature, Session, Value } from '../feature.ts'
import { isFromCache } from '../judge.ts'
import { EXPENSIVE, MANY_ALIASES, type Operation } from '../operations.ts'
import { type User, USERS } from '../users.ts'

const ada = USERS[0] as User

/** Asks what may be refused, and leaves it to the judge. */
const asks =
  (operation: Operation): NonNullable<Value['during']> =>
  async ({ ask }) => {
    await ask(ada, operation)
    return undefined
  }

/** What `limits` and `cost` refuse is answered where they are off. */
export const limits: Feature = {
  name: 'limits',
  settings: ['graphql'],
  values: [
    { name: 'usual', during: asks(MANY_ALIASES) },
    {
      name: 'wide',
      config: () =>
        record({
          graphql: record({
            maxBodyBytes: constantFrom(1_048_576, 2_000_000),
            documentCacheMaxBytes: constantFrom(2_000_000, 67_108_864),
            limits: record({
              maxDepth: constantFrom(8, 0),
              maxTokens: constantFrom(500, 0),
              maxAliases: constantFrom(30, 0),
              maxDuplicateFields: constantFrom(30, 0),
              maxBodyItems: constantFrom(200, 50_000),
              maxAnswerObjects: constantFrom(1_000, 0),
              maxAnswerBytes: constantFrom(100_000, 0),
            }),
          }),
        }),
      during: asks(MANY_ALIASES),
    },
    {
      name: 'aliases',
      config: () => record({ graphql: record({ limits: record({ maxAliases: constantFrom(4, 6) }) }) }),
      refuses: ({ operation }) =>
        operation.name === MANY_ALIASES.name ? 'DOCUMENT_LIMIT_EXCEEDED' : undefined,
      during: asks(MANY_ALIASES),
    },
  ],
}

export const cost: Feature = {
  name: 'cost',
  settings: ['cost'],
  values: [
    { name: 'usual', during: asks(EXPENSIVE) },
    {
      name: 'limit',
      config: () => record({ cost: record({ max: constantFrom(40, 60) }) }),
      refuses: ({ operation }) =>
        operation.name === EXPENSIVE.name ? 'COST_ESTIMATED_TOO_EXPENSIVE' : undefined,
      refusesLate: ({ answer }) =>
        answer.errors?.[0]?.extensions?.['code'] === 'COST_ESTIMATED_TOO_EXPENSIVE',
      during: asks(EXPENSIVE),
    },
    {
      name: 'told',
      config: () =>
        record({
          cost: record({
            max: constant(0),
            includeExtensionMetadata: constant(true),
            listSize: constantFrom(1, 50),
            fields: constantFrom<Piece>(
              { 'Book.title': { weight: 2 } },
              { 'Query.books': { listSize: { assumedSize: 4 } } },
              { 'Query.book': { arguments: { id: 1 } } },
              {
                'Query.books': {
                  listSize: { slicingArguments: ['limit'], requireOneSlicingArgument: false },
                },
              },
            ),
          }),
        }),
      during: asks(EXPENSIVE),
      *observe({ sent }) {
        for (const one of sent) {
          for (const [index, { operation, answer }] of one.operations.entries())
            if (!one.isProbe && !isFromCache(one, index) && answer.data && !answer.extensions?.['cost'])
              yield `an answer does not say its cost: ${operation.name} by ${one.way}`
        }
      },
    },
  ],
}

const GREEDY = 'greedy'

/** One client asks more often than it may. */
async function exceed({ ask, keep }: Session, piece: Piece, workers: number): Promise<void> {
  const { max } = (piece as { rateLimit: { rules: readonly [{ max: number }] } }).rateLimit.rules[0]
  let answered = 0
  for (let asked = 0; asked < max * workers + 3; asked++) {
    const operation = { name: 'Titles', type: 'query' as const, text: 'query Titles { books { title } }' }
    const { operations } = await ask(ada, operation, undefined, { [CLIENT_HEADER]: GREEDY })
    if (operations[0]?.answer.errors?.[0]?.extensions?.['code'] !== 'RATE_LIMITED') answered++
  }
  keep('rateLimit', { max, answered })
}

export const rateLimit: Feature = {
  name: 'rateLimit',
  settings: ['rateLimit'],
  values: [
    { name: 'off' },
    {
      name: 'by client',
      config: () =>
        record({
          rateLimit: record({
            rules: constantFrom(5, 8).map((max) => [
              { by: { header: CLIENT_HEADER, trusted: true }, max, windowSeconds: 3_600 },
            ]),
          }),
        }),
      refuses: (asked, { headers }) =>
        headers[CLIENT_HEADER] === GREEDY && asked.answer.errors?.[0]?.extensions?.['code'] === 'RATE_LIMITED'
          ? 'RATE_LIMITED'
          : undefined,
      during: async (session, piece) => {
        await exceed(session, piece, 2)
        return undefined
      },
      *observe({ kept, row }) {
        const { max, answered } = kept.get('rateLimit') as { max: number; answered: number }
        // Workers count for themselves unless there is a Redis.
        const most = row['workers'] === '2' && row['redis'] === 'off' ? 2 * max : max
        if (answered > most || answered < max) yield `of one client was answered: ${answered}, of ${max}`
      },
    },
    {
      name: 'wide',
      config: () =>
        constantFrom<Piece>({}, { by: 'address' }, { counts: 'requests' }, { counts: 'executions' }).map(
          (rule) => ({ rateLimit: { rules: [{ max: 1_000_000, windowSeconds: 60, ...rule }] } }),
        ),
    },
    {
      name: 'by claim',
      // Nothing is known of anyone without a token.
      fits: ({ jwt }) => jwt !== 'off',
      config: () =>
        constant({ rateLimit: { rules: [{ by: { claim: 'sub' }, max: 1_000_000, windowSeconds: 60 }] } }),
    },
    {
      name: 'of fields',
      config: () =>
        constantFrom<Piece>({ operations: ['Titles'] }, { fields: ['Query.book', 'Query.books'] }).map(
          (rule) => ({ rateLimit: { rules: [{ max: 1_000_000, windowSeconds: 60, ...rule }] } }),
        ),
    },
  ],
}
