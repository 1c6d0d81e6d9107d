import { GraphQLError } from 'graphql'

/** All are answered with HTTP 400 before anything is executed. */
export function tooExpensive(cost: number, max: number): GraphQLError {
  return new GraphQLError(
    `The operation ${describe(cost)}, but the limit is ${max}; request fewer list items, or split the operation.`,
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
    `${coordinate} requires ${expected.length === 1 ? `the argument ${list}` : `exactly one of the arguments ${list}`} to limit the number of items; received ${received}.`,
    { extensions: { code: 'COST_SLICING_ARGUMENT_REQUIRED', http: { status: 400 } } },
  )
}

export function unboundedSlicingArgument(coordinate: string, argument: string, value: unknown): GraphQLError {
  const received = value === null ? 'null' : String(Number(value))
  return new GraphQLError(
    `${coordinate} requires a value of 1 or more for the argument ${argument}, which limits the number of items; received ${received}.`,
    { extensions: { code: 'COST_SLICING_ARGUMENT_REQUIRED', http: { status: 400 } } },
  )
}

function describe(cost: number): string {
  return Number.isFinite(cost) ? `can cost ${cost}` : 'has a cost that is too high to calculate'
}
