import { createGraphQLError, type Plugin } from 'graphql-yoga'
import type { SettingsPlan } from './plan.ts'

/** The header by which requests of an attacker are known, for hooks that see no operation. */
export const ATTACKER = 'x-attacker'
/** An operation that the guard's owner has not allowed. */
export const FORBIDDEN = 'Forbidden'

/** Refuses at one hook, as registered documents, firewalls and the like do. */
export function guardPlugin(
  hook: NonNullable<SettingsPlan['guard']>,
): Plugin & { readonly readsHeaders: readonly string[] } {
  // It refuses, and changes nothing.
  return { ...guardAt(hook), readsHeaders: [] }
}

function guardAt(hook: NonNullable<SettingsPlan['guard']>): Plugin {
  const refuse = (): never => {
    throw createGraphQLError('refused by the guard', {
      extensions: { code: 'REFUSED', http: { status: 403 } },
    })
  }
  switch (hook) {
    case 'onRequest':
      return {
        onRequest({ request, endResponse, fetchAPI }) {
          if (request.headers.has(ATTACKER))
            endResponse(new fetchAPI.Response('{"errors":[{"message":"refused"}]}', { status: 403 }))
        },
      }
    case 'onRequestParse':
      return {
        onRequestParse({ request }) {
          if (request.headers.has(ATTACKER)) refuse()
        },
      }
    case 'onParams':
      return {
        onParams({ params }) {
          if (params.query?.includes(FORBIDDEN)) refuse()
        },
      }
  }
}
