import {
  getOperationAST,
  type ExecutionArgs,
  type GraphQLResolveInfo,
  type OperationDefinitionNode,
} from 'graphql'

/** Calls that a plan made before graphql-js took over. Resolvers return these results instead of calling again. */
export interface Recorded {
  /** Results of root fields by response name. */
  readonly roots: ReadonlyMap<string | number, () => unknown>
  /**
   * Results of joined fields, by an object that identifies the field. The function returns `undefined` for a key that
   * was not requested.
   */
  readonly joins: ReadonlyMap<object, (key: string) => Promise<unknown> | undefined>
}

/** By the operation that resolvers are given: it is a copy for the one execution. */
const byOperation = new WeakMap<OperationDefinitionNode, Recorded>()

/** The same execution with what was called before. */
export function withRecorded(args: ExecutionArgs, recorded: readonly Recorded[]): ExecutionArgs {
  const { document, operationName } = args
  const operation = getOperationAST(document, operationName)
  if (!operation) return args
  const copy = { ...operation }
  byOperation.set(copy, mergeRecorded(recorded))
  const definitions = document.definitions.map((one) => (one === operation ? copy : one))
  return { ...args, document: { ...document, definitions } }
}

export function mergeRecorded(all: readonly Recorded[]): Recorded {
  const joins = new Map<object, (key: string) => Promise<unknown> | undefined>()
  for (const recorded of all) {
    for (const [join, find] of recorded.joins) {
      const before = joins.get(join)
      joins.set(join, before ? (key) => before(key) ?? find(key) : find)
    }
  }
  return { roots: new Map(all.flatMap(({ roots }) => [...roots])), joins }
}

/** Returns the recorded call for a root field; `undefined` if there is none. */
export function recordedRoot({ operation, path }: GraphQLResolveInfo): (() => unknown) | undefined {
  return path.prev === undefined ? byOperation.get(operation)?.roots.get(path.key) : undefined
}

/** Returns the recorded call of a plan for a key of this joined field; undefined where there is none. */
export function recordedJoin(
  { operation }: Pick<GraphQLResolveInfo, 'operation'>,
  join: object,
  key: string,
): Promise<unknown> | undefined {
  return byOperation.get(operation)?.joins.get(join)?.(key)
}
