import type { IncomingMessage } from 'node:http'
import { withBehaviour } from '@vinyasa/core/pipeline'
import { after, createAttachment, isNotFromHttp } from '@vinyasa/core'
import { getOperationAST, type OperationDefinitionNode } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { pathnameOf } from '../http/pathname.ts'
import { factsOf } from './operation.ts'
import type { ErrorLike } from './recent-errors.ts'
import type { Recorder } from './recorder.ts'
import { recordOf } from './request-record.ts'

/** Tells observers of every request and operation of a server. */
export function useRecorder(recorder: Recorder): Plugin {
  const seesParts = recorder.tells('part')
  /** Contexts of operations whose result was recorded by the hook. */
  const executed = createAttachment<true>()
  const plugin: Plugin = {
    onSubscribe({ args }) {
      // Whether it is a subscription was looked up like this.
      const definition = getOperationAST(args.document, args.operationName) as OperationDefinitionNode
      const facts = factsOf(definition)
      const end = recorder.beginOperation(facts, args.contextValue)
      return {
        onSubscribeResult({ result }) {
          end?.(result)
          return seesParts ? { onNext: (part) => recorder.part(facts, part.result) } : undefined
        },
        onSubscribeError: ({ error }) => end?.({ errors: [error] }),
      }
    },
    onExecutionResult({ context }) {
      executed.set(context, true)
      recorder.executed(context)
    },
    // A request that was refused before it was an operation comes here too, as all that has errors does.
    onResultProcess({ request, serverContext, result }) {
      recorder.result(request, serverContext, result)
    },
    ...(recorder.tells('refused') && {
      onParse:
        ({ context }) =>
        ({ result }) => {
          if (result instanceof Error) recorder.refused(context, [result], 'GRAPHQL_PARSE_FAILED')
        },
      onValidate:
        ({ context }) =>
        ({ valid, result }) => {
          if (!valid) recorder.refused(context, result, 'GRAPHQL_VALIDATION_FAILED')
        },
    }),
  }
  return withBehaviour(plugin, {
    receive(request, context) {
      if (isNotFromHttp(context) || recordOf(context)) return
      // Plugins can change the URL of the request.
      const { req } = context as { readonly req?: IncomingMessage }
      recorder.begin(request, context, pathnameOf(req?.url ?? request.url))
    },
    // Operations that are answered from the cache are not executed.
    refuse({ prepared, context }) {
      recorder.named(factsOf(prepared.definition), context)
      return undefined
    },
    execute(operation, next) {
      const end = recorder.beginOperation(factsOf(operation.prepared.definition), operation.context)
      if (!end) return next(operation)
      return after(next(operation), (result) => {
        end(result)
        return result
      })
    },
    refused: ({ context }, errors) =>
      recorder.refused(context, errors as readonly ErrorLike[], 'GRAPHQL_VALIDATION_FAILED'),
    ...(seesParts && { onPart: ({ prepared }, part) => recorder.part(factsOf(prepared.definition), part) }),
    respond({ request, context }, response) {
      if (!executed.get(context)) recorder.executed(context)
      recorder.response(request, response, context)
    },
  })
}
