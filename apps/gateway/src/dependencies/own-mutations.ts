import { createDependencyCache, selectOperation, type InvalidationBus } from '@vinyasa/invalidation'
import { getOperationAST, type ExecutionArgs, type GraphQLField } from 'graphql'
import type { Plugin } from 'graphql-yoga'

/**
 * Announces what mutations written by hand change, which no source does: what their results are made of,
 * or state, and everything where that is nothing. After they ended, whether well or not, and before the answer.
 */
export function useOwnMutations(bus: InvalidationBus): Plugin {
  const dependenciesOf = createDependencyCache()

  function ownFields({
    schema,
    document,
    operationName,
  }: ExecutionArgs): readonly GraphQLField<unknown, unknown>[] {
    if (getOperationAST(document, operationName)?.operation !== 'mutation') return []
    const root = schema.getMutationType()
    const fields = selectOperation(schema, document, operationName)?.fields ?? []
    return fields
      .filter(({ parent }) => parent === root)
      .flatMap(({ definitions: [definition] }) => definition?.field ?? [])
      .filter(({ extensions }) => extensions['origin'] === undefined)
  }

  async function announce(
    args: ExecutionArgs,
    fields: readonly GraphQLField<unknown, unknown>[],
  ): Promise<void> {
    const { ofMutationField } = dependenciesOf(args.schema)
    const changes = fields.map(ofMutationField)
    const types = new Set(changes.flatMap((change) => (change.everything ? ['*'] : [...change.types])))
    await bus.publish([...types].map((entityType) => ({ entityType, operation: '*' })))
  }

  return {
    onExecute({ args, executeFn, setExecuteFn }) {
      const fields = ownFields(args)
      if (fields.length === 0) return
      setExecuteFn(async (given: ExecutionArgs) => {
        try {
          return await executeFn(given)
        } finally {
          await announce(args, fields)
        }
      })
    },
  }
}
