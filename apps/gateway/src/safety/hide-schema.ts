import { after } from '@vinyasa/base'
import { NoSchemaIntrospectionCustomRule, type GraphQLError } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { withBehaviour } from '../behaviour.ts'
import { errorsOf } from '../limits/errors.ts'

/** Refuses `__schema` and `__type` on every transport; `__typename` stays. */
export function useNoIntrospection(): Plugin {
  return withBehaviour({
    onValidate({ addValidationRule }) {
      addValidationRule(NoSchemaIntrospectionCustomRule)
    },
  })
}

/** graphql's own phrase at the end of a message: ` Did you mean "a" or "b"?` */
const SUGGESTION = / ?Did you mean (?:the enum value |to use an inline fragment on |the )?"[^?]*\?/g

/** Takes "Did you mean …" out of the errors of validation and of variables: it tells names of the schema. */
export function useNoSuggestions(): Plugin {
  return withBehaviour(
    {
      onValidate() {
        return ({ valid, result }) => {
          if (!valid) for (const error of result) removeSuggestion(error)
        }
      },
      onSubscribe() {
        return { onSubscribeResult: ({ result }) => removeFromResult(result) }
      },
    },
    {
      execute: (operation, next) =>
        after(next(operation), (result) => {
          removeFromResult(result)
          return result
        }),
    },
  )
}

function removeFromResult(result: unknown): void {
  for (const error of errorsOf(result)) {
    // An error with a path is a resolver's: its text is not graphql's.
    if (error.path === undefined) removeSuggestion(error)
  }
}

function removeSuggestion(error: GraphQLError): void {
  if (error.message.includes('Did you mean')) error.message = error.message.replace(SUGGESTION, '')
}
