import type { IncomingMessage, ServerResponse } from 'node:http'
import { type DocumentNode, type ExecutionResult, getOperationAST, type GraphQLSchema } from 'graphql'
import { isStream } from '../fast-path/accept-choice.ts'
import { toErrors } from '../fast-path/to-errors.ts'
import { after, attempt, type MaybePromise } from '@vinyasa/base'
import type { AskedOperation } from './asked-operation.ts'
import { errorsIn } from './literals/lifted-errors.ts'
import { argsOf } from './others/execution.ts'
import { runResultHooks } from './others/steps.ts'
import type { ShortCall } from './part.ts'
import { Answer } from './answer.ts'
import type { ShortServer } from './short-server.ts'
import type { Enveloped } from '../yoga/yoga-5.ts'

/** One request for a known operation: from here on, whatever becomes of it is answered here. */
export class ShortRun {
  readonly #server: ShortServer
  readonly #asked: AskedOperation
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  #call: ShortCall
  #unknownBody: Buffer | string | undefined

  constructor(
    server: ShortServer,
    call: ShortCall,
    asked: AskedOperation,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ) {
    this.#server = server
    this.#call = call
    this.#asked = asked
    this.#incoming = incoming
    this.#outgoing = outgoing
  }

  /** `unknownBody`: what was sent, where it is not known yet what follows from it. */
  serve(unknownBody: Buffer | string | undefined): MaybePromise<void> {
    this.#unknownBody = unknownBody
    const executed = this.#orErrors(() => this.#execute())
    const heard = after(executed, (result) => this.#orErrors(() => this.#tell(result)))
    return after(heard, (result) => {
      const answer = new Answer(this.#server, this.#call, this.#incoming, this.#outgoing)
      return after(answer.send(result), (isUsual) => {
        if (isUsual) this.#remember()
      })
    })
  }

  /** What is thrown on the way becomes the errors of a result. */
  #orErrors(run: () => MaybePromise<unknown>): MaybePromise<unknown> {
    return attempt(run, (error) => this.#asSent({ errors: toErrors(error, this.#server.internals) }))
  }

  #execute(): MaybePromise<unknown> {
    const { begins, others, run } = this.#server
    for (const begin of begins) begin(this.#call)
    const refused = others.readsDocuments || others.buildsContext ? this.#prepare() : undefined
    return after(refused, (result) => result ?? this.#masked(run(this.#call)))
  }

  /** Parses, validates and builds the context as far as other people's plugins do something there. */
  #prepare(): MaybePromise<unknown> {
    const { internals, others, envelopOthers } = this.#server
    const { operation, params, context } = this.#call
    // Who hears of contexts that cannot be built is known to Envelop alone.
    const all = others.buildsContext ? internals.getEnveloped(context) : undefined
    const { parse, validate } = all ?? envelopOthers(context)
    const schema = all?.schema ?? operation.schema
    if (others.readsDocuments || schema !== operation.schema) {
      const document = parse(params.query)
      if (schema !== operation.schema || document !== operation.document)
        return this.#executeOther(all ?? internals.getEnveloped(context), schema, document)
      const errors = others.validates ? validate(schema, document) : []
      if (errors.length > 0) return { errors }
    }
    return all && after(all.contextFactory(), () => undefined)
  }

  /** Executes what a plugin has put in the place of a document or schema: it has been through no hook. */
  #executeOther(enveloped: Enveloped, schema: GraphQLSchema, document: DocumentNode): MaybePromise<unknown> {
    const { others, isAdmitted, run } = this.#server
    const { operationName } = this.#call.params
    const errors = enveloped.validate(schema, document)
    if (errors.length > 0) return { errors }
    const definition = getOperationAST(document, operationName)
    const found = definition && { schema, document, definition, operationName }
    const isKnown = found?.definition.operation === 'query' && isAdmitted(found)
    this.#call = { ...this.#call, operation: found ?? this.#call.operation, sameBody: undefined }
    this.#unknownBody = undefined
    const built = others.buildsContext || !isKnown ? enveloped.contextFactory() : this.#call.context
    return after(built, (contextValue) =>
      isKnown
        ? this.#masked(run(this.#call))
        : enveloped.execute({ ...argsOf(this.#call), document, schema, contextValue }),
    )
  }

  #masked(executed: MaybePromise<unknown>): MaybePromise<unknown> {
    return after(executed, (result) => {
      if (isStream(result)) return result
      const given = result as ExecutionResult
      const whole = given.errors == null ? given : this.#server.masking.whole(this.#asSent(given))
      for (const deliver of this.#server.delivers) {
        const delivered = deliver(this.#call, whole)
        if (delivered !== whole) return delivered
      }
      return whole
    })
  }

  /** Errors stand where they do in the document that the client sent. */
  #asSent(result: ExecutionResult): ExecutionResult {
    const { lifted, sent } = this.#asked
    if (!lifted || !result.errors) return result
    return Object.assign(result, { errors: errorsIn(result.errors, sent.query, lifted.text) })
  }

  #tell(result: unknown): MaybePromise<unknown> {
    const { others, results } = this.#server
    const call = this.#call
    const seen =
      others.onExecutionResult.length === 0
        ? result
        : runResultHooks(others.onExecutionResult, result, call.request, call.context)
    return after(seen, (given) => {
      if (!isStream(given)) for (const hear of results) hear(call, given as ExecutionResult)
      return given
    })
  }

  #remember(): void {
    const sent = this.#unknownBody
    const { operation, params, lifted } = this.#asked
    // One that is executed with other variables each time is not worth the room.
    if (sent === undefined || lifted || (this.#call.wasExecuted && params.variables)) return
    const { known, bodies } = this.#server.state
    if (known.get(params) === operation) bodies.add(sent, params, operation)
  }
}
