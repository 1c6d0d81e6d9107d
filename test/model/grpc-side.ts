import { type Metadata, status } from '@grpc/grpc-js'
import type { GrpcSourceOptions } from '@vinyasa/grpc-source'
import { type GrpcBackend, grpcError, type GrpcHandler, startGrpcBackend } from '@vinyasa/test-kit'
import { type Behaviour, DEADLINE_MS, FailedAfterCommit, markOf, type MutationArgs } from './behaviour.ts'
import type { EntityPlan, JoinPlan, MutationPlan, ReadPlan, SchemaPlan, SettingsPlan } from './plan.ts'
import { notesOf, lower, replyOf, upper } from './shapes.ts'
import type { Mark } from './truth.ts'

const SERVICE = 'model.Zoo'

interface Rpc {
  readonly name: string
  readonly request: string
  readonly response: string
  readonly handler: GrpcHandler
  readonly options?: NonNullable<GrpcSourceOptions['methods']>[string]
}

/** The methods and messages of what the schema has by gRPC. */
export interface GrpcSide {
  readonly proto: string
  readonly options: Pick<GrpcSourceOptions, 'protoText' | 'methods' | 'joins' | 'oneofs'>
  start(): Promise<GrpcBackend>
}

const markOfCall = (metadata: Metadata): Mark =>
  markOf((name) => metadata.get(name).map(String).join(',') || undefined)

export function createGrpcSide(
  schema: SchemaPlan,
  behaviour: Behaviour,
  { throttleMs }: Pick<SettingsPlan, 'throttleMs'>,
): GrpcSide {
  const entities = schema.entities.filter(({ source }) => source === 'grpc')
  const isHere = (type: string): boolean => entities.some(({ name }) => name === type)
  const reads = schema.reads.filter(({ source }) => source === 'grpc')
  const rpcs: Rpc[] = [
    ...reads.map((read) => rpcOfRead(read, behaviour, throttleMs)),
    ...schema.mutations
      .filter(({ source }) => source === 'grpc')
      .map((mutation) => rpcOfMutation(mutation, behaviour)),
    ...entities.map(({ name }) => rpcOfBatch(name, behaviour)),
    ...schema.joins
      .filter(({ kind, target }) => kind === 'many' && isHere(target))
      .map((join) => rpcOfMany(join, behaviour)),
  ]
  const proto = [
    'syntax = "proto3"; package model; import "google/protobuf/empty.proto";',
    `service Zoo {\n${rpcs.map(({ name, request, response }) => `  rpc ${name}(${request}) returns (${response});`).join('\n')}\n}`,
    'message IdRequest { string id = 1; }',
    'message IdsRequest { repeated string ids = 1; }',
    'message ChangeRequest { string id = 1; string other = 2; string text = 3; }',
    'message Done { bool ok = 1; string id = 2; }',
    ...notesOf(entities).map((note) => message(note, ['string text', 'int32 weight'])),
    ...entities.flatMap((entity) => messagesOf(entity, reads, schema.mutations)),
    ...reads.filter(({ shape }) => shape === 'union').map(({ type, others }) => unionOf([type, ...others])),
  ].join('\n')
  return {
    proto,
    options: {
      protoText: { 'zoo.proto': proto },
      oneofs: 'union',
      methods: Object.fromEntries(
        rpcs.flatMap(({ name, options }) => (options ? [[`${SERVICE}.${name}`, options]] : [])),
      ),
      joins: schema.joins.filter(({ target }) => isHere(target)).map(joinOf),
    },
    start: () =>
      startGrpcBackend({
        protos: proto,
        handlers: Object.fromEntries(rpcs.map(({ name, handler }) => [`${SERVICE}/${name}`, handler])),
      }),
  }
}

function rpcOfRead(read: ReadPlan, behaviour: Behaviour, throttleMs: number): Rpc {
  const { name, type, shape, triggers } = read
  const responses: Readonly<Record<ReadPlan['shape'], string>> = {
    one: type,
    list: `List${type}Response`,
    wrapper: `List${type}Response`,
    connection: `${type}Connection`,
    nested: `${type}Nested`,
    aggregate: `${type}Reckoning`,
    count: `${type}Reckoning`,
    text: `${type}Reckoning`,
    json: `${type}Reckoning`,
    union: 'SearchResponse',
    interface: 'SearchResponse',
  }
  const plucks: Partial<Record<ReadPlan['shape'], string>> = {
    list: 'items',
    count: 'count',
    text: 'newest',
    json: 'sum',
  }
  const pluck = plucks[shape]
  return {
    name: upper(name),
    request: shape === 'one' ? 'IdRequest' : 'google.protobuf.Empty',
    response: responses[shape],
    options: {
      schema: { type: 'QUERY', name, ...(pluck !== undefined && { response: { pluck } }) },
      liveQuery: { enabled: true, throttleMs, ...(triggers && { triggers }) },
    },
    handler: async ({ id }, { metadata }) => {
      const reply = await behaviour.read(() => replyOf(read, behaviour.truth, id, markOfCall(metadata)))
      if (!reply) throw grpcError(status.NOT_FOUND, 'not there')
      return reply
    },
  }
}

function rpcOfMutation(mutation: MutationPlan, behaviour: Behaviour): Rpc {
  const { name, type, returns, other, changes } = mutation
  const responses: Readonly<Record<MutationPlan['returns'], string>> = {
    entity: type,
    null: `${type}Payload`,
    payload: `${type}Payload`,
    list: `List${type}Response`,
    ok: 'Done',
    boolean: 'Done',
    id: 'Done',
    json: 'Done',
    empty: 'google.protobuf.Empty',
    other,
  }
  const plucks: Partial<Record<MutationPlan['returns'], string>> = {
    null: lower(type),
    list: 'items',
    boolean: 'ok',
    id: 'id',
  }
  const pluck = plucks[returns]
  return {
    name: upper(name),
    request: 'ChangeRequest',
    response: responses[returns],
    options: {
      schema: { type: 'MUTATION', name, ...(pluck !== undefined && { response: { pluck } }) },
      timeoutMs: DEADLINE_MS,
      ...stated({ changes }),
    },
    handler: async (args: MutationArgs, { metadata }) => {
      try {
        return (await behaviour.mutate(mutation, args, markOfCall(metadata))) ?? {}
      } catch (error) {
        throw error instanceof FailedAfterCommit ? grpcError(status.INTERNAL, 'failed after commit') : error
      }
    },
  }
}

/** Left out where nothing is stated. */
export function stated<T extends Readonly<Record<string, unknown>>>(statements: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(statements).filter(([, value]) => value !== undefined),
  ) as Partial<T>
}

function rpcOfBatch(type: string, behaviour: Behaviour): Rpc {
  return {
    name: `Batch${type}`,
    request: 'IdsRequest',
    response: `List${type}Response`,
    handler: ({ ids }, { metadata }) =>
      joined(behaviour, () => ({ items: behaviour.truth.entities(type, ids, markOfCall(metadata)) })),
  }
}

const nameOfMany = ({ type, target, link }: JoinPlan): string => `${target}Of${type}By${upper(link)}`

function rpcOfMany(join: JoinPlan, behaviour: Behaviour): Rpc {
  const { target, link } = join
  return {
    name: nameOfMany(join),
    request: 'IdsRequest',
    response: `List${target}Response`,
    handler: ({ ids }: { ids: readonly string[] }, { metadata }) =>
      joined(behaviour, () => ({
        items: ids.flatMap((key) =>
          behaviour.truth.entities(target, behaviour.truth.linked(target, link, key), markOfCall(metadata)),
        ),
      })),
  }
}

function joined<T>(behaviour: Behaviour, answer: () => T): Promise<T> {
  if (behaviour.failsJoins) throw grpcError(status.INTERNAL, 'a join failed')
  return behaviour.read(answer)
}

function joinOf(join: JoinPlan): NonNullable<GrpcSourceOptions['joins']>[number] {
  const { type, field, target, link, kind } = join
  if (kind === 'one') return { type, field, method: `${SERVICE}.${target}`, request: { id: link } }
  const many = kind === 'many'
  return {
    type,
    field,
    batch: {
      method: `${SERVICE}.${many ? nameOfMany(join) : `Batch${target}`}`,
      keys: 'ids',
      items: 'items',
      parentKey: many ? 'id' : link,
      ...(many && { many, itemKey: link }),
    },
  }
}

function message(name: string, fields: readonly string[], arms: readonly string[] = []): string {
  const numbered = fields.map((field, index) => `${field} = ${index + 1};`)
  const numberedArms = arms.map((arm, index) => `${arm} = ${fields.length + index + 1};`)
  const oneof = arms.length > 0 ? `oneof partner { ${numberedArms.join(' ')} }` : ''
  return `message ${name} { ${numbered.join(' ')} ${oneof} }`
}

function messagesOf(
  { name, note, embeds, computed, links, partners }: EntityPlan,
  reads: readonly ReadPlan[],
  mutations: readonly MutationPlan[],
): string[] {
  const has = (...shapes: readonly ReadPlan['shape'][]): boolean =>
    reads.some(({ type, shape }) => type === name && shapes.includes(shape))
  const pays = mutations.some(
    ({ type, returns }) => type === name && (returns === 'payload' || returns === 'null'),
  )
  return [
    message(
      name,
      [
        'string id',
        'string text',
        'int32 number',
        ...(note === undefined ? [] : [`${note} note`]),
        ...embeds.map(({ field, type, many }) => `${many ? 'repeated ' : ''}${type} ${field}`),
        ...computed.map(({ field, isNote }) => `${isNote ? note : 'int32'} ${field}`),
        ...links.map(({ field }) => `string ${field}`),
      ],
      partners.map((partner) => `${partner} ${lower(partner)}`),
    ),
    message(`List${name}Response`, [`repeated ${name} items`, 'int32 totalCount']),
    ...(has('connection')
      ? [
          message(`${name}Connection`, [
            `repeated ${name}Edge edges`,
            `${name}PageInfo pageInfo`,
            'int32 totalCount',
          ]),
          message(`${name}Edge`, ['string cursor', `${name} node`]),
          message(`${name}PageInfo`, ['bool hasNextPage', 'string endCursor']),
        ]
      : []),
    ...(has('nested') ? [message(`${name}Nested`, ['string title', `List${name}Response inner`])] : []),
    ...(has('aggregate', 'count', 'text', 'json')
      ? [message(`${name}Reckoning`, ['int32 count', 'int32 sum', 'string newest'])]
      : []),
    ...(pays ? [message(`${name}Payload`, ['bool ok', `${name} ${lower(name)}`])] : []),
  ]
}

function unionOf(types: readonly string[]): string {
  const arms = types.map((type, index) => `${type} ${lower(type)} = ${index + 1};`).join(' ')
  return `message Found { oneof what { ${arms} } }\nmessage SearchResponse { repeated Found hits = 1; }`
}
