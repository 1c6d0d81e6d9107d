import type { DocumentNode, Source } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { DOCUMENT_LIMIT_EXCEEDED, errorsOf } from './errors.ts'
import { measureOperation } from './measure-operation.ts'
import { type DocumentLimits, scanTokens } from './scan-tokens.ts'
import { withBehaviour } from '../behaviour.ts'

/**
 * Refuses documents over the limits with HTTP 400: most of them before they are parsed, so the parser's
 * recursion is safe. A document that passed is remembered by Yoga's parser cache and not measured again.
 */
export function useDocumentLimits(limits: DocumentLimits): Plugin {
  return withBehaviour({
    onParse({ parseFn, setParseFn }) {
      setParseFn((source: string | Source, options?: object): DocumentNode => {
        scanTokens(typeof source === 'string' ? source : source.body, limits)
        const document: DocumentNode = parseFn(source, options)
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
