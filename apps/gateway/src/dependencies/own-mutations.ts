import { createDependencyCache, selectOperation, type InvalidationBus } from '@vinyasa/invalidation'
import type { ExecutionArgs, GraphQLField } from 'graphql'
import { argsOf, type Execute, type Operation } from '@vinyasa/pipeline'
import { type PluginWithBehaviour, withBehaviour } from '../behaviour.ts'

/**
 * Announces what mutations written by hand change, which no source does: what their results are made of,
 * or state, and everything where that is nothing. After they ended, whether well or not, and before the answer; what is refused changes nothing.
 */
export function useOwnMutations(bus: InvalidationBus): PluginWithBehaviour {
  const dependenciesOf = createDependencyCache()

  function ownFields({
    schema,
    document,
    operationName,
  }: ExecutionArgs): readonly GraphQLField<unknown, unknown>[] {
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

  return withBehaviour(
    {},
    {
      execute(operation, next) {
        if (operation.prepared.definition.operation !== 'mutation') return next(operation)
        const args = argsOf(operation)
        const fields = ownFields(args)
        return fields.length === 0
          ? next(operation)
          : executeAndAnnounce(operation, next, () => announce(args, fields))
      },
    },
  )
}

async function executeAndAnnounce(
  operation: Operation,
  next: Execute,
  announce: () => Promise<void>,
): Promise<unknown> {
  try {
    return await next(operation)
  } finally {
    if (!operation.progress.isRefused) await announce()
  }
}
