import { type DocumentNode, parse, Source } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { DOCUMENT_LIMIT_EXCEEDED, errorsOf } from './errors.ts'
import { measureOperation } from './measure-operation.ts'
import { type DocumentLimits, LimitedLexer, scanTokens } from './scan-tokens.ts'
import { withBehaviour } from '../behaviour.ts'

/**
 * Refuses documents over the limits with HTTP 400: most of them while they are parsed, before a token beyond a limit is, so
 * the parser's recursion is safe. A document that passed is remembered by Yoga's parser cache and not measured again.
 */
export function useDocumentLimits(limits: DocumentLimits): Plugin {
  return withBehaviour({
    onParse({ parseFn, setParseFn }) {
      setParseFn((given: string | Source, options?: object): DocumentNode => {
        const source = typeof given === 'string' ? new Source(given) : given
        const isGraphqls = parseFn === parse
        // Another parser may read tokens in a way of its own.
        if (!isGraphqls) scanTokens(source.body, limits)
        const document: DocumentNode = isGraphqls
          ? parse(source, { ...options, lexer: new LimitedLexer(source, limits) })
          : parseFn(given, options)
        measureOperation(document, limits)
        return document
      })
    },
    // For a client that accepts only `application/json` Yoga marks what parsing throws as an answer of HTTP 200.
    onExecutionResult({ result }) {
      for (const error of errorsOf(result)) {
        if (error.extensions['code'] === DOCUMENT_LIMIT_EXCEEDED) error.extensions['http'] = { status: 400 }
      }
    },
  })
}
