import { keyed, type LiveOptions } from '@vinyasa/core'
import { print, type DocumentNode, type GraphQLSchema, type OperationDefinitionNode } from 'graphql'
import { createDependencyCache, describeOperationVariesBy, type VariesBy } from '@vinyasa/invalidation'
import { stripLiveDirective } from './directive.ts'
import { createEntityFinder, type EntityFinder } from '../triggers/identifiers.ts'
import { planLiveQuery, type LivePlan, type PlanInput } from './live-plan.ts'

export interface LiveDocument {
  /**
   * The document without `@live`. It is the same object for the same document, so that executors can use it as a cache
   * key.
   */
  readonly document: DocumentNode
  readonly text: string
}

export interface PlannedOperation {
  readonly plan: LivePlan
  /** The request data that results depend on. */
  readonly variesBy: VariesBy
  readonly entities: () => EntityFinder
}

export interface LiveDocuments {
  strip(document: DocumentNode): LiveDocument
  plan(input: Pick<PlanInput, 'schema' | 'document' | 'operation' | 'throttleMs'>): PlannedOperation
}

/** Caches values that depend only on a document. Yoga creates one document object per query string. */
export function createLiveDocuments(
  fields: Readonly<Record<string, LiveOptions>>,
  defaults: LiveOptions,
  idFields?: readonly string[],
): LiveDocuments {
  const plans = new WeakMap<
    OperationDefinitionNode,
    { schema: GraphQLSchema; throttleMs: number | undefined; planned: PlannedOperation }
  >()
  const dependenciesOf = createDependencyCache({ idFields })
  return {
    strip: keyed((document: DocumentNode): LiveDocument => {
      const stripped = stripLiveDirective(document)
      return { document: stripped, text: print(stripped) }
    }, new WeakMap()),
    plan({ schema, document, operation, throttleMs }) {
      const known = plans.get(operation)
      if (known && known.schema === schema && known.throttleMs === throttleMs) return known.planned
      let finder: EntityFinder | undefined
      const dependencies = dependenciesOf(schema)
      const planned = {
        plan: planLiveQuery({ schema, document, operation, fields, defaults, throttleMs, dependencies }),
        variesBy: describeOperationVariesBy(schema, document, operation.name?.value),
        entities: () => (finder ??= createEntityFinder(schema, document, operation, dependencies)),
      }
      plans.set(operation, { schema, throttleMs, planned })
      return planned
    },
  }
}
