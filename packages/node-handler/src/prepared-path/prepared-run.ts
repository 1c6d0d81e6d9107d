import type { IncomingMessage, ServerResponse } from 'node:http'
import { after, type MaybePromise } from '@vinyasa/base'
import { type Asked, type Operation, OperationRun } from '@vinyasa/pipeline'
import { runExecutionResultHooks } from '../hooks/on-execution-result.ts'
import { Answer } from './answer.ts'
import { readAsked } from './asked-operation.ts'
import type { PathServer } from './path-server.ts'

/** One request for a prepared document: from here on, whatever becomes of it is answered here. */
export class PreparedRun {
  readonly #server: PathServer
  readonly #asked: Asked
  readonly #run: OperationRun
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse

  constructor(
    server: PathServer,
    operation: Operation,
    asked: Asked,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ) {
    this.#server = server
    this.#asked = asked
    this.#run = new OperationRun(server.pipeline, operation, asked)
    this.#incoming = incoming
    this.#outgoing = outgoing
  }

  /** `unknownBody`: what was sent, where it is not known yet what follows from it. */
  serve(unknownBody: Buffer | string | undefined): MaybePromise<void> {
    const run = this.#run
    const executed = run.orErrors(() => {
      for (const begin of this.#server.begins) begin(run.operation)
      return run.start()
    })
    const heard = after(executed, (result) => run.orErrors(() => this.#tell(result)))
    return after(heard, (result) => {
      const answer = new Answer(this.#server, run, this.#incoming, this.#outgoing)
      return after(answer.send(result), (isUsual) => {
        if (isUsual && unknownBody !== undefined) this.#remember(unknownBody)
      })
    })
  }

  #tell(result: unknown): MaybePromise<unknown> {
    const { onExecutionResult } = this.#server.others
    const { request, context } = this.#run.operation
    return runExecutionResultHooks(onExecutionResult, result, request, context)
  }

  #remember(sent: Buffer | string): void {
    const { prepared, params, lifted } = this.#asked
    const { operation } = this.#run
    // Nothing follows from the bytes about a document that a plugin has put in the place of theirs.
    const isOther = operation.prepared !== prepared
    // One that is executed with other variables each time is not worth the room.
    if (lifted || isOther || (operation.progress.wasExecuted && params.variables)) return
    const { known, bodies } = this.#server
    // Hooks may have changed the parameters meanwhile.
    const asked = readAsked(this.#server, sent)
    if (asked && known.get(asked) === prepared) bodies.add(sent, asked, prepared)
  }
}
