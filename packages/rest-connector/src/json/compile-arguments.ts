import { FallBack, prepareArguments, type Variables } from '@vinyasa/source-kit'
import type { FieldNode, GraphQLField } from 'graphql'
import type { Args } from '../templates/template.ts'

/** The arguments of a field. @throws FallBack where one is wrong, which ordinary execution words */
export type ArgumentsOf = (variables: Variables) => Args

export function compileArguments(field: GraphQLField<unknown, unknown>, node: FieldNode): ArgumentsOf {
  const argumentsOf = prepareArguments(field, node)
  return (variables) => {
    try {
      return argumentsOf(variables)
    } catch {
      throw new FallBack('an argument is invalid')
    }
  }
}
