import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  getOperationAST,
  type GraphQLSchema,
  type SelectionNode,
} from 'graphql'
import { collectFields, fragmentsOf, isIncluded, withDefaults } from '../documents/index.ts'
import { createGraphQLError, mapAsyncIterator } from 'graphql-yoga'
import { after, attempt, isAsyncIterable, type MaybePromise } from '../index.ts'
import { holdErrors } from './document-room.ts'
import { type Enveloped, toErrors } from './yoga.ts'
import { type Asked, errorsIn } from './literals.ts'
import { argsOf, type Execute, type Operation } from './operation.ts'
import type { PipelineServer } from './server.ts'

/**
 * Subscribes to an operation. graphql-js throws a TypeError if `@skip` or `@include` removes the root field.
 * This function returns an error for the client instead.
 */
export function subscribeBy({ subscribe }: Enveloped, args: ExecutionArgs): MaybePromise<unknown> {
  const { document, operationName, variableValues } = args
  const definition = getOperationAST(document, operationName)
  if (!definition) return subscribe(args)
  const variables = withDefaults(definition, variableValues)
  const walk = {
    fragments: fragmentsOf(document),
    includes: (node: SelectionNode) => isIncluded(node, variables),
  }
  if (collectFields(walk, [definition.selectionSet]).size > 0) return subscribe(args)
  const message =
    '@skip or @include removes the root field of the subscription. Send the subscription with one root field.'
  const extensions = { code: 'BAD_USER_INPUT', http: { status: 400 } }
  return { errors: [createGraphQLError(message, { extensions, nodes: definition })] }
}

/** Executes an operation of a cached document once. */
export class OperationRun {
  readonly #server: PipelineServer
  readonly #asked: Pick<Asked, 'sent' | 'lifted'>
  readonly #run: Execute
  /** Operation to execute. It is replaced if a plugin changes the document or the schema. */
  operation: Operation
  /**
   * Whether Envelop's `subscribe` was called. Envelop masks the errors of subscription events and calls the
   * hooks for them.
   */
  #isSubscribed = false

  /**
   * Creates the execution. `run` executes the operation with all wrappers. By default, these are the wrappers
   * of all plugins.
   */
  constructor(
    server: PipelineServer,
    operation: Operation,
    asked: Pick<Asked, 'sent' | 'lifted'>,
    run: Execute = server.run,
  ) {
    this.#server = server
    this.#asked = asked
    this.#run = run
    this.operation = operation
  }

  /**
   * Builds the context and executes the operation. Returns a result or a stream of results, with unmasked errors.
   * Thrown errors become a result.
   */
  start(): MaybePromise<unknown> {
    return this.orErrors(() => after(this.#prepare(), (result) => result ?? this.execute()))
  }

  /** Executes the operation if the context is already built. */
  execute(): MaybePromise<unknown> {
    for (const refuse of this.#server.refuses) {
      const refusal = refuse(this.operation)
      if (!refusal) continue
      this.operation.progress.isRefused = true
      return this.#whole(refusal)
    }
    return this.#whole(this.#run(this.operation))
  }

  /** Returns the result for serialization. The errors of stream parts are masked after `onPart` has received them. */
  seen(result: unknown): unknown {
    if (!isAsyncIterable(result) || this.#isSubscribed) return result
    const { masking, partsSeen } = this.#server
    const mask = (parts: AsyncIterable<unknown>): AsyncIterable<unknown> =>
      this.operation.progress.isFinal ? parts : masking.parts(parts)
    if (partsSeen.length === 0) return mask(result)
    const heard = mapAsyncIterator(result, (part) => {
      for (const hear of partsSeen) hear(this.operation, part)
      return part
    })
    return mask(heard)
  }

  /** Calls `run` and converts thrown errors to a result. */
  orErrors(run: () => MaybePromise<unknown>): MaybePromise<unknown> {
    return attempt(run, (error) => this.#asSent({ errors: toErrors(error, this.#server.yoga) }))
  }

  /**
   * Parses, validates and builds the context if plugins without a behaviour hook into these steps. Returns a
   * result if the operation must not be executed.
   */
  #prepare(): MaybePromise<unknown> {
    const { others, contexts } = this.#server
    const { prepared, context } = this.operation
    if (prepared.errors) return this.#refused(prepared.errors)
    const isSubscription = prepared.definition.operation === 'subscription'
    if (!others.readsDocuments && !others.buildsContext && !isSubscription) {
      for (const build of contexts) build(context)
      return undefined
    }
    return this.#prepareBy(isSubscription)
  }

  #prepareBy(isSubscription: boolean): MaybePromise<unknown> {
    const { yoga, others, envelopOthers, contexts } = this.#server
    const { prepared, params, context } = this.operation
    // Only Envelop can call the hooks for failed context building.
    const all = others.buildsContext || isSubscription ? yoga.getEnveloped(context) : undefined
    const { parse, validate } = all ?? envelopOthers(context)
    const schema = all?.schema ?? prepared.schema
    if (others.readsDocuments || schema !== prepared.schema) {
      const document = parse(params.query)
      if (schema !== prepared.schema || document !== prepared.document)
        return this.#executeOther(all ?? yoga.getEnveloped(context), schema, document)
      const errors = others.validates ? validate(schema, document) : []
      if (errors.length > 0) return this.#refused(errors)
    }
    if (!all) {
      for (const build of contexts) build(context)
      return undefined
    }
    return after(all.contextFactory(), () =>
      isSubscription ? this.#subscribe(all, argsOf(this.operation)) : undefined,
    )
  }

  #refused(errors: readonly unknown[]): object {
    for (const refused of this.#server.refusals) refused(this.operation, errors)
    return { errors }
  }

  /**
   * Executes a document or schema that a plugin has set instead of the original. The hooks have not processed
   * it yet.
   */
  #executeOther(enveloped: Enveloped, schema: GraphQLSchema, document: DocumentNode): MaybePromise<unknown> {
    const errors = enveloped.validate(schema, document)
    if (errors.length > 0) {
      holdErrors(document, errors)
      return { errors }
    }
    const { operationName } = this.operation.params
    const definition = getOperationAST(document, operationName)
    const prepared = definition && { schema, document, definition, operationName }
    if (prepared) this.operation = { ...this.operation, prepared, sameBytes: undefined }
    return after(enveloped.contextFactory(), (contextValue) => {
      if (definition && definition.operation !== 'subscription') return this.execute()
      const args = { ...argsOf(this.operation), schema, document, contextValue }
      return definition ? this.#subscribe(enveloped, args) : enveloped.execute(args)
    })
  }

  #subscribe(enveloped: Enveloped, args: ExecutionArgs): MaybePromise<unknown> {
    this.#isSubscribed = true
    return subscribeBy(enveloped, args)
  }

  /**
   * Masks the errors of a complete result and passes it to the `deliver` functions, which can return a stream
   * of its parts.
   */
  #whole(executed: MaybePromise<unknown>): MaybePromise<unknown> {
    const { delivers, masking } = this.#server
    return after(executed, (result) => {
      if (isAsyncIterable(result)) return result
      const sent = this.#asSent(result as ExecutionResult)
      let delivered: MaybePromise<unknown> = this.operation.progress.isFinal ? sent : masking.whole(sent)
      for (const deliver of delivers)
        delivered = after(delivered, (found) =>
          isAsyncIterable(found) ? found : deliver(this.operation, found as ExecutionResult),
        )
      return delivered
    })
  }

  /** Moves the positions of errors to the document that the client sent. */
  #asSent(result: ExecutionResult): ExecutionResult {
    const { lifted, sent } = this.#asked
    if (!result.errors || !lifted) return result
    return Object.assign(result, { errors: errorsIn(result.errors, sent.query, lifted.text) })
  }
}
