import type { InvalidationBus, InvalidationEvent } from '@vinyasa/invalidation'
import { GraphQLError } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { z } from 'zod'
import type { InvalidateConfig } from './http-types.ts'
import { parseJson, readBody } from './request-body.ts'
import { isSecret } from '../texts/is-secret.ts'

const HEADER = 'x-invalidate-secret'
const MAX_BYTES = 262_144
const MAX_EVENTS = 1000
const name = z.string().regex(/^(\*|[_A-Za-z][_0-9A-Za-z]{0,127})$/)

const event = z.strictObject({
  entityType: name,
  operation: name,
  entityId: z
    .union([z.string().min(1).max(1024), z.number()])
    .transform(String)
    .optional(),
})
const events = z.union([event.transform((one) => [one]), z.array(event).min(1).max(MAX_EVENTS)])

/**
 * `POST /invalidate`: for a backend that changes its data by itself. The body is an event,
 * `{"entityType": "User", "operation": "update", "entityId": "1"}`, or a list of them. Answers 204 once caches and
 * live queries of this gateway know.
 */
export function useInvalidateEndpoint(bus: InvalidationBus, { secret }: InvalidateConfig): Plugin {
  async function answer(request: Request): Promise<{ status: number; message?: string }> {
    if (request.method !== 'POST') return { status: 405, message: 'Send invalidation events with POST.' }
    const sent = request.headers.get(HEADER)
    if (sent === null || !isSecret(sent, secret)) {
      return { status: 401, message: `The header ${HEADER} is missing or does not match invalidate.secret.` }
    }
    const batch = await readEvents(request)
    if ('status' in batch) return batch
    await bus.publish(batch)
    return { status: 204 }
  }

  return {
    async onRequest({ request, url, fetchAPI, endResponse }) {
      if (url.pathname !== '/invalidate') return
      const { status, message } = await answer(request)
      const body = message === undefined ? null : `${JSON.stringify({ error: message })}\n`
      endResponse(
        new fetchAPI.Response(body, {
          status,
          headers: {
            ...(body !== null && { 'content-type': 'application/json' }),
            ...(status === 405 && { allow: 'POST' }),
          },
        }),
      )
    },
  }
}

async function readEvents(
  request: Request,
): Promise<readonly InvalidationEvent[] | { status: number; message: string }> {
  let value: unknown
  try {
    value = parseJson(await readBody(request, MAX_BYTES))
  } catch (error) {
    if (error instanceof GraphQLError && statusOf(error) === 413)
      return { status: 413, message: error.message }
    return {
      status: 400,
      message: 'The body cannot be read as a JSON object or list; send an event or a list of events.',
    }
  }
  const parsed = events.safeParse(value)
  if (parsed.success) return parsed.data
  const message = `Expected an event such as {"entityType": "User", "operation": "update", "entityId": "1"}, or a list of 1 to ${MAX_EVENTS} events. entityId is optional, and "*" matches any entityType or operation.`
  return { status: 400, message }
}

function statusOf(error: GraphQLError): unknown {
  const { http } = error.extensions as { http?: { status?: unknown } }
  return http?.status
}
