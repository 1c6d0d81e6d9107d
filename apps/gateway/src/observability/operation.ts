import type { OperationDefinitionNode } from 'graphql'
import { errorsOf } from '../limits/errors.ts'

export interface OperationFacts {
  readonly type: 'query' | 'mutation' | 'subscription'
  readonly name: string | undefined
}

export function factsOf({ operation, name }: OperationDefinitionNode): OperationFacts {
  return { type: operation, name: name?.value }
}

/** A code as a label: those of backends, which may be anything, are `OTHER` unless they are of the usual form. */
export function labelOf(code: unknown): string {
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,63}$/.test(code) ? code : 'OTHER'
}

/** `extensions.code` of every error of a result; an error without one is of the gateway's own making. */
export function errorCodesOf(result: unknown): readonly string[] {
  return errorsOf(result).map(({ extensions }) => {
    const code: unknown = extensions?.['code']
    return typeof code === 'string' ? code : 'INTERNAL_SERVER_ERROR'
  })
}
