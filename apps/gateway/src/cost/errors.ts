import { GraphQLError } from 'graphql'

/** All are answered with HTTP 400 before anything is executed. */
export function tooExpensive(cost: number, max: number): GraphQLError {
  return new GraphQLError(
    `The operation may cost ${format(cost)}, and ${max} is allowed; ask for fewer items of its lists, or split it.`,
    {
      extensions: {
        code: 'COST_ESTIMATED_TOO_EXPENSIVE',
        cost: { estimated: Number.isFinite(cost) ? cost : null, max },
        http: { status: 400 },
      },
    },
  )
}

export function notOneSlicingArgument(
  coordinate: string,
  expected: readonly string[],
  given: readonly string[],
): GraphQLError {
  const list = new Intl.ListFormat('en', { type: 'disjunction' }).format(expected)
  const received = given.length === 0 ? 'none' : given.join(' and ')
  return new GraphQLError(
    `${coordinate} has to be asked for with exactly one of its arguments ${list}, which say how many items there will be; received ${received}.`,
    { extensions: { code: 'COST_SLICING_ARGUMENT_REQUIRED', http: { status: 400 } } },
  )
}

export function unboundedSlicingArgument(coordinate: string, argument: string, value: unknown): GraphQLError {
  const received = value === null ? 'null' : String(Number(value))
  return new GraphQLError(
    `${coordinate} has to be asked for with an argument ${argument} of 1 or more, which says how many items there will be; received ${received}.`,
    { extensions: { code: 'COST_SLICING_ARGUMENT_REQUIRED', http: { status: 400 } } },
  )
}

function format(cost: number): string {
  return Number.isFinite(cost) ? String(cost) : 'more than can be counted'
}
