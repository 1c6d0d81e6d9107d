import type { DocumentNode, GraphQLSchema } from 'graphql'
import { type PluginHooks, yogasPlugins } from '@vinyasa/yoga-internals'
import { onValidate as inOneWalk } from './one-walk.ts'
import type { Enveloped } from '../yoga.ts'

export type Validate = (
  enveloped: Pick<Enveloped, 'validate'>,
  schema: GraphQLSchema,
  document: DocumentNode,
) => readonly unknown[]

/** Validates as Envelop does; a document that was valid stays so where nobody but Yoga has a say. */
export function createValidate(plugins: readonly unknown[]): Validate {
  return onlyYogaValidates(plugins)
    ? createValidateOnce()
    : (enveloped, schema, document) => enveloped.validate(schema, document)
}

/** No plugin adds rules, replaces results, or wraps the step. */
export function onlyYogaValidates(plugins: readonly unknown[]): boolean {
  const { engine, documentCache, validationErrors } = yogasPlugins(plugins)
  if (!engine || !documentCache || !validationErrors) return false
  const yogas = new Set<unknown>([engine, documentCache, validationErrors])
  return plugins.every((plugin) => {
    const { onValidate, instrumentation } = Object(plugin) as PluginHooks
    const hasSay = onValidate && onValidate !== inOneWalk
    return yogas.has(plugin) || !(hasSay || 'validate' in Object(instrumentation))
  })
}

/** Yoga's own memo of valid documents is asked by the names of all rules, which costs more than a small execution. */
function createValidateOnce(): Validate {
  const valid = new WeakMap<GraphQLSchema, WeakSet<DocumentNode>>()
  return (enveloped, schema, document) => {
    let documents = valid.get(schema)
    if (documents?.has(document)) return []
    const errors = enveloped.validate(schema, document)
    if (errors.length > 0) return errors
    if (!documents) valid.set(schema, (documents = new WeakSet()))
    documents.add(document)
    return errors
  }
}
