import { after } from '@vinyasa/base'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import type { IncomingMessage } from 'node:http'
import { withShortWay } from '../short-way.ts'
import { isNotFromHttp } from '../context/live-context.ts'
import { factsOf, operationOf } from './operation.ts'
import { Recorder, type RecorderOptions } from './recorder.ts'

/** Tells observers of every request and operation of a server. */
export function useRecorder(options: RecorderOptions): Plugin {
  const recorder = new Recorder(options)
  const seesParts = recorder.tells('part')
  const plugin: Plugin = {
    onRequest({ request, serverContext }) {
      if (!isNotFromHttp(serverContext)) recorder.begin(request, serverContext)
    },
    onExecute({ args }) {
      const facts = operationOf(args.document, args.operationName)
      const end = recorder.beginOperation(facts, args.contextValue)
      if (!end && !seesParts) return undefined
      return {
        onExecuteDone({ result }) {
          end?.(result)
          return seesParts && isAsyncIterable(result)
            ? { onNext: (part) => recorder.part(facts, part.result) }
            : undefined
        },
      }
    },
    onSubscribe({ args }) {
      const facts = operationOf(args.document, args.operationName)
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
      recorder.executed(context)
    },
    // What was refused before it was an operation comes here too, as on the short way all that has errors does.
    onResultProcess({ request, serverContext, result }) {
      recorder.result(request, serverContext, result)
    },
    onResponse({ request, response, serverContext }) {
      recorder.response(request, response, serverContext)
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
  return withShortWay(plugin, {
    begin({ request, context }) {
      // It is the endpoint's, whose path no URL writes otherwise.
      recorder.begin(request, context, pathOfTarget((context['req'] as IncomingMessage).url ?? '/'))
    },
    execute(call, next) {
      const end = recorder.beginOperation(factsOf(call.operation.definition), call.context)
      if (!end) return next(call)
      return after(next(call), (result) => {
        end(result)
        return result
      })
    },
    ...(seesParts && { onPart: ({ operation }, part) => recorder.part(factsOf(operation.definition), part) }),
    respond({ request, context }, response) {
      recorder.executed(context)
      recorder.response(request, response, context)
    },
  })
}

function pathOfTarget(target: string): string {
  const end = target.indexOf('?')
  return end < 0 ? target : target.slice(0, end)
}
