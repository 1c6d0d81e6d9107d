import type { FieldDefinitions, RestConnectorOptions, RestEndpoint } from '@vinyasa/rest-connector'
import { type RecordedRequest, type RestAnswer, type RestBackend, startRestBackend } from '@vinyasa/test-kit'
import { type Behaviour, DEADLINE_MS, FailedAfterCommit, markOf, type MutationArgs } from './behaviour.ts'
import { stated } from './grpc-side.ts'
import type { EntityPlan, JoinPlan, MutationPlan, ReadPlan, SchemaPlan, SettingsPlan } from './plan.ts'
import { lower, replyOf, upper } from './shapes.ts'
import type { Mark } from './truth.ts'

export interface RestSide {
  readonly endpoints: readonly RestEndpoint[]
  start(): Promise<RestBackend>
}

type Handler = (request: RecordedRequest, mark: Mark) => Promise<RestAnswer> | RestAnswer

interface Route {
  readonly endpoint: RestEndpoint
  readonly handler: Handler
}

export function createRestSide(
  schema: SchemaPlan,
  behaviour: Behaviour,
  { throttleMs }: Pick<SettingsPlan, 'throttleMs'>,
): RestSide {
  const entities = schema.entities.filter(({ source }) => source === 'rest')
  const fieldsOf = (type: string): FieldDefinitions =>
    entityFields(entities.find(({ name }) => name === type)!)
  const routes = new Map<string, Route>()
  const add = (route: Route): void => void routes.set(route.endpoint.path, route)
  for (const read of schema.reads.filter(({ source }) => source === 'rest'))
    add(routeOfRead(read, fieldsOf(read.type), behaviour, schema.joins, throttleMs))
  for (const mutation of schema.mutations.filter(({ source }) => source === 'rest'))
    add(routeOfMutation(mutation, fieldsOf, behaviour))
  for (const join of schema.joins) {
    if (join.kind !== 'one' && entities.some(({ name }) => name === join.target))
      add(routeOfJoin(join, fieldsOf(join.target), behaviour))
  }
  return {
    endpoints: [...routes.values()].map(({ endpoint }) => endpoint),
    start: () =>
      startRestBackend((request) => {
        const route = routes.get(request.url.pathname)
        const mark = markOf((name) => request.headers[name]?.toString())
        return route ? route.handler(request, mark) : { status: 404 }
      }),
  }
}

function entityFields({ note, embeds, computed, links }: EntityPlan): FieldDefinitions {
  const noteField =
    note === undefined ? undefined : { type: note, fields: { text: 'string!', weight: 'int!' } }
  return {
    id: 'id!',
    text: 'string!',
    number: 'int!',
    ...(noteField && { note: noteField }),
    ...Object.fromEntries(embeds.map(({ field, type, many }) => [field, many ? `[${type}!]` : type])),
    ...Object.fromEntries(computed.map(({ field, isNote }) => [field, (isNote && noteField) || 'int!'])),
    ...Object.fromEntries(links.map(({ field }) => [field, 'id!'])),
  }
}

type Typed = Pick<RestEndpoint, 'returnType' | 'responseSchema' | 'responsePath'>

const listFields = (type: string): FieldDefinitions => ({ items: `[${type}!]!`, totalCount: 'int!' })
const reckoning: FieldDefinitions = { count: 'int!', sum: 'int!', newest: 'string!' }

function typeOfRead({ type, shape }: ReadPlan, fields: FieldDefinitions): Typed {
  const entity = { typeName: type, fields }
  switch (shape) {
    case 'one':
      return { responseSchema: entity }
    case 'list':
      return { responseSchema: entity, returnType: `[${type}!]!`, responsePath: '$.items' }
    case 'wrapper':
      return { responseSchema: { typeName: `List${type}Response`, fields: listFields(type) } }
    case 'connection':
      return {
        responseSchema: {
          typeName: `${type}Connection`,
          fields: {
            edges: { type: `[${type}Edge!]!`, fields: { cursor: 'string!', node: type } },
            pageInfo: { type: `${type}PageInfo!`, fields: { hasNextPage: 'boolean!', endCursor: 'string' } },
            totalCount: 'int!',
          },
        },
      }
    case 'nested':
      return {
        responseSchema: {
          typeName: `${type}Nested`,
          fields: { title: 'string!', inner: { type: `${type}Inner!`, fields: listFields(type) } },
        },
      }
    case 'aggregate':
      return { responseSchema: { typeName: `${type}Reckoning`, fields: reckoning } }
    case 'count':
      return { returnType: 'Int!', responsePath: '$.count' }
    case 'text':
      return { returnType: 'String', responsePath: '$.newest' }
    case 'json':
    case 'union':
    case 'interface':
      return {}
  }
}

function routeOfRead(
  read: ReadPlan,
  fields: FieldDefinitions,
  behaviour: Behaviour,
  joins: readonly JoinPlan[],
  throttleMs: number,
): Route {
  const { name, type, shape, triggers } = read
  const on = joins
    .filter(({ kind, target }) => shape === 'one' && kind === 'one' && target === type)
    .map((join) => ({ type: join.type, field: join.field, args: { id: `{${join.link}}` } }))
  return {
    endpoint: {
      name,
      path: `/read/${name}`,
      ...(shape === 'one' && { args: { id: 'ID!' }, queryParams: { id: '{id}' } }),
      ...typeOfRead(read, fields),
      ...(on.length > 0 && { on }),
      liveQuery: { enabled: true, throttleMs, ...(triggers && { triggers }) },
    },
    handler: async ({ url }, mark) => {
      const json = await behaviour.read(() =>
        replyOf(read, behaviour.truth, url.searchParams.get('id') ?? '', mark),
      )
      return json ? { json } : { status: 404 }
    },
  }
}

function typeOfMutation(
  { type, returns, other }: MutationPlan,
  fieldsOf: (type: string) => FieldDefinitions,
): Typed {
  switch (returns) {
    case 'entity':
    case 'null':
      return { responseSchema: { typeName: type, fields: fieldsOf(type) } }
    case 'payload':
      return {
        responseSchema: { typeName: `${type}Payload`, fields: { ok: 'boolean!', [lower(type)]: type } },
      }
    case 'list':
      return {
        responseSchema: { typeName: type, fields: fieldsOf(type) },
        returnType: `[${type}!]!`,
        responsePath: '$.items',
      }
    case 'ok':
      return { responseSchema: { typeName: 'RestDone', fields: { ok: 'boolean!' } } }
    case 'boolean':
      return { returnType: 'Boolean!', responsePath: '$.ok' }
    case 'id':
      return { returnType: 'ID!', responsePath: '$.id' }
    case 'empty':
      return { returnType: 'Boolean' }
    case 'json':
      return {}
    case 'other':
      return { responseSchema: { typeName: other, fields: fieldsOf(other) } }
  }
}

function routeOfMutation(
  mutation: MutationPlan,
  fieldsOf: (type: string) => FieldDefinitions,
  behaviour: Behaviour,
): Route {
  const { name, returns, httpMethod, changes } = mutation
  const args = { id: 'ID!', other: 'ID!', text: 'String!' }
  return {
    endpoint: {
      name,
      method: httpMethod,
      path: `/change/${name}`,
      args,
      ...(httpMethod === 'DELETE' && { queryParams: { id: '{id}', other: '{other}', text: '{text}' } }),
      ...typeOfMutation(mutation, fieldsOf),
      timeoutMs: DEADLINE_MS,
      ...stated({ changes }),
    },
    handler: async (request, mark) => {
      const given = (
        httpMethod === 'DELETE' ? Object.fromEntries(request.url.searchParams) : request.json()
      ) as MutationArgs
      try {
        const json = await behaviour.mutate(mutation, given, mark)
        if (returns === 'null') return { json: null }
        return returns === 'empty' ? { status: 204 } : { json }
      } catch (error) {
        if (error instanceof FailedAfterCommit) return { status: 500 }
        throw error
      }
    },
  }
}

function routeOfJoin(join: JoinPlan, fields: FieldDefinitions, behaviour: Behaviour): Route {
  const { type, field, target, link, kind } = join
  const many = kind === 'many'
  return {
    endpoint: {
      name: `${lower(target)}Of${type}By${upper(link)}`,
      path: `/join/${type}/${field}`,
      args: { ids: '[ID!]!' },
      queryParams: { ids: '{ids}' },
      returnType: `[${target}!]!`,
      responseSchema: { typeName: target, fields },
      rootField: false,
      on: {
        type,
        field,
        args: { ids: many ? '{id}' : `{${link}}` },
        batch: many ? { key: link, many } : { key: 'id' },
      },
    },
    handler: async ({ url }, mark) => {
      if (behaviour.failsJoins) return { status: 500 }
      const { truth } = behaviour
      const keys = url.searchParams.getAll('ids')
      const json = await behaviour.read(() =>
        truth.entities(target, many ? keys.flatMap((key) => truth.linked(target, link, key)) : keys, mark),
      )
      return { json }
    },
  }
}

/** What a connector needs beside its endpoints. */
export function restOptions(
  settings: SettingsPlan,
  place: string,
): Omit<RestConnectorOptions, 'baseUrl' | 'endpoints'> {
  return {
    noRetry: true,
    defaultHeaders: { 'x-place': place },
    forwardHeaders: settings.restForward,
    cacheSize: settings.restCacheSize,
    plans: settings.plans,
    ...(settings.interceptor && {
      interceptors: [
        (request, { context }) => {
          const secret = (context as { request?: Request } | undefined)?.request?.headers.get('x-secret')
          if (secret) request.headers.set('x-secret', secret)
        },
      ],
    }),
  }
}
