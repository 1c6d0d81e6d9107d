import { headersOf, refuseForwarded } from '@vinyasa/source-kit'
import { RestConfigError } from '../errors.ts'
import { checkedHeader } from '../templates/header-template.ts'

/** Takes the allowed inbound headers out of a GraphQL context. */
export type ForwardHeaders = (context: unknown) => Record<string, string>

export function createForwardHeaders(names: readonly string[]): ForwardHeaders | undefined {
  if (names.length === 0) return undefined
  refuseForwarded(names, (path, message) => new RestConfigError(message, { path }))
  const lowerCase = names.map((name) => name.toLowerCase())
  return (context) => {
    const inbound = headersOf(context)
    const forwarded: Record<string, string> = {}
    for (const name of lowerCase) {
      const value = inbound?.(name)
      if (value !== undefined) forwarded[name] = checkedHeader(name, value)
    }
    return forwarded
  }
}
