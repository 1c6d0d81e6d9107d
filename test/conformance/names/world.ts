import { createGrpcSource, useGrpcSource } from '@vinyasa/grpc-source'
import { createInvalidationBus, type InvalidationBus } from '@vinyasa/invalidation'
import { createRestConnector, useRestConnector } from '@vinyasa/rest-connector'
import type { PlanEvent, SourceNames } from '@vinyasa/source-kit'
import {
  createDisposables,
  startGrpcBackend,
  startRestBackend,
  type GrpcBackend,
  type RestBackend,
} from '@vinyasa/test-kit'
import type { GraphQLSchema } from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'

// Two sources with everything that has a name, each joined to the other and to itself.

const PROTO = `syntax = "proto3"; package p; import "graphql.proto";
service People {
  rpc GetPerson(GetPersonRequest) returns (Person) { option (graphql.schema) = { type: QUERY name: "person" }; }
  rpc ListPeople(ListPeopleRequest) returns (PersonList) { option (graphql.schema) = { type: QUERY name: "people" response { pluck: "people" } }; }
  rpc FindPeople(FindRequest) returns (PersonList) { option (graphql.schema) = { type: QUERY name: "find" request { name: "input" } }; }
  rpc PeopleByIds(Ids) returns (PersonList);
  rpc GetHome(HomeRequest) returns (Home) { option (graphql.schema) = { type: RESOLVER name: "home" }; }
  rpc UpdatePerson(GetPersonRequest) returns (Person) { option (graphql.schema) = { type: MUTATION name: "updatePerson" }; }
}
enum Role { ROLE_NONE = 0; ROLE_ADMIN = 1; ROLE_GUEST = 2; }
message GetPersonRequest { string id = 1 [(graphql.field).required = true]; Role role = 2; }
message ListPeopleRequest { int32 limit = 1 [(graphql.field) = { default: "2" }]; Role role = 2; }
message Name { string first = 1; string last = 2; }
message FindRequest { Name name = 1; repeated Name others = 2; oneof by { string mail = 3; Name alias = 4; } Role role = 5; map<string, Name> tags = 6; }
message Ids { repeated string ids = 1; }
message HomeRequest { string id = 1; }
message Home { string id = 1; string city = 2; }
message Card { string number = 1; }
message Cash { int32 amount = 1; }
message Person {
  string id = 1; Name name = 2; Role role = 3; repeated string tags = 4; map<string, Name> aliases = 5; Person boss = 6;
  oneof pays { Card card = 7; Cash cash = 8; } bool active = 9; repeated Role roles = 10; string home_id = 11;
  Home home = 12 [(graphql.field).resolver = "home"]; string pet_id = 13;
}
message PersonList { repeated Person people = 1; }`

function person(id: string): object {
  return {
    id,
    name: { first: `f"${id}`, last: 'Ł' },
    role: 'ROLE_ADMIN',
    tags: ['a', ''],
    aliases: { x: { first: 'x' } },
    boss: { id: `${id}b`, role: 'ROLE_GUEST', homeId: 'h2', petId: 'p2' },
    ...(id.length % 2 === 0 ? { card: { number: '4' } } : { cash: { amount: 5 } }),
    active: true,
    roles: ['ROLE_GUEST', 'ROLE_NONE'],
    homeId: `h${id}`,
    petId: `p${id}`,
  }
}

const pet = (id: string): object => ({
  id,
  'pet-name': `name of ${id}`,
  mood: 'very-good',
  friend: id.length % 2 === 0 ? { kind: 'robot', serial: 's' } : { id: 'f', 'pet-name': 'friend' },
  marks: { left: 'l', right: 'r' },
  keeper: { id: '7', since: 3 },
  person: `1${id}`,
})

export interface World {
  readonly grpc: GrpcBackend
  readonly rest: RestBackend
  stop(): Promise<void>
}

export async function startWorld(): Promise<World> {
  const cleanup = createDisposables()
  const grpc = cleanup.use(
    await startGrpcBackend({
      protos: { 'graphql.proto': 'syntax = "proto3"; package graphql;', 'p.proto': plain(PROTO) },
      handlers: {
        'p.People/GetPerson': ({ id }) => person(id),
        'p.People/UpdatePerson': ({ id }) => person(id),
        'p.People/ListPeople': ({ limit }) => ({
          people: Array.from({ length: limit }, (_, index) => person(`${index}`)),
        }),
        'p.People/FindPeople': (request) => ({
          people: [person(JSON.stringify(request).length % 2 ? '1' : '22')],
        }),
        'p.People/PeopleByIds': ({ ids }) => ({ people: ids.map(person) }),
        'p.People/GetHome': ({ id }) => ({ id, city: `city of ${id}` }),
      },
    }),
  )
  const rest = cleanup.use(
    await startRestBackend(({ url, method }) => {
      const [, resource, id = ''] = url.pathname.split('/')
      if (method !== 'GET') return { json: pet('w') }
      if (resource === 'pet') return { json: pet(id) }
      if (resource === 'friend') return { json: { kind: 'robot', serial: id } }
      return { json: url.searchParams.getAll('ids').map(pet) }
    }),
  )
  return { grpc, rest, stop: () => cleanup.dispose() }
}

/** Without options: the server knows messages alone. */
function plain(proto: string): string {
  return proto
    .replaceAll(/import "graphql.proto";/g, '')
    .replaceAll(/ \{ option [^;]*; \}/g, ';')
    .replaceAll(/ \[\(graphql[^\]]*\]/g, '')
}

export interface ServedNames {
  readonly grpc?: SourceNames
  readonly rest?: SourceNames
  /** What joins call the types and fields that they are put on, and the fields that they read. */
  readonly client?: (coordinate: string) => string
  readonly plugins?: readonly Plugin[]
  readonly bus?: InvalidationBus
  readonly plans?: boolean
  readonly onPlan?: (event: PlanEvent) => void
}

export interface Served {
  readonly schema: GraphQLSchema
  ask(query: string, variables?: object, headers?: Readonly<Record<string, string>>): Promise<any>
  stop(): Promise<void>
}

/** A server of both sources, under other names. */
export async function serve(world: World, given: ServedNames = {}): Promise<Served> {
  const cleanup = createDisposables()
  const { client = (coordinate) => coordinate.replace(/^.*\./, ''), plans, onPlan } = given
  const bus = given.bus ?? createInvalidationBus({ onError: () => {} })
  const people = cleanup.use(
    await createGrpcSource({
      name: 'people',
      protoText: { 'p.proto': PROTO },
      endpoint: world.grpc.address,
      oneofs: 'union',
      bus,
      plans,
      onPlan,
      ...given.grpc,
      logger: { warn() {}, error() {} },
      joins: [
        {
          type: client('Pet'),
          field: 'owner',
          batch: {
            method: 'p.People.PeopleByIds',
            keys: 'ids',
            items: 'people',
            parentKey: client('Pet.person'),
          },
        },
        {
          type: client('Pet'),
          field: 'ownerAlone',
          method: 'p.People.GetPerson',
          request: { id: client('Pet.person') },
        },
      ],
    }),
  )
  const pets = cleanup.use(
    createRestConnector('pets', {
      baseUrl: world.rest.url,
      bus,
      plans,
      onPlan,
      noRetry: true,
      ...given.rest,
      types: {
        Pet: {
          kind: 'object',
          fields: {
            id: { type: 'ID' },
            petName: { type: 'String', key: 'pet-name' },
            mood: { type: 'Mood' },
            friend: { type: 'Friend' },
            marks: { type: '[Mark!]' },
            keeper: { type: 'Keeper' },
            person: { type: 'ID' },
          },
        },
        Keeper: { kind: 'object', fields: { id: { type: 'ID' }, since: { type: 'Int' } } },
        Robot: { kind: 'object', fields: { serial: { type: 'String' } } },
        Mood: { kind: 'enum', values: { GOOD: { value: 'very-good' }, BAD: { value: 'bad' } } },
        Mark: { kind: 'entry', value: 'String' },
        Friend: {
          kind: 'union',
          members: { Pet: { required: ['id'] }, Robot: { required: ['serial'] } },
          discriminator: { key: 'kind', types: { robot: 'Robot' } },
        },
        PetInput: {
          kind: 'input',
          fields: {
            petName: { type: 'String!', key: 'pet-name' },
            mood: { type: 'Mood' },
            marks: { type: '[MarkInput!]' },
            friends: { type: '[PetInput!]' },
            better: { type: 'BetterInput' },
          },
        },
        MarkInput: { kind: 'input entry', value: 'String' },
        BetterInput: {
          kind: 'input',
          isOneOf: true,
          fields: { pet: { type: 'PetInput' }, name: { type: 'String' } },
        },
      },
      endpoints: [
        { name: 'pet', path: '/pet/{id}', args: { id: 'ID!' }, returnType: 'Pet' },
        { name: 'friend', path: '/friend/{id}', args: { id: 'ID!' }, returnType: 'Friend' },
        {
          name: 'petsById',
          path: '/pets',
          args: { ids: '[ID!]!', mood: 'Mood' },
          queryParams: { ids: '{ids}', mood: '{mood}' },
          returnType: '[Pet!]',
          on: {
            type: client('Person'),
            field: 'pet',
            args: { ids: `{${client('Person.petId')}}` },
            batch: { key: 'id' },
          },
        },
        {
          name: 'addPet',
          method: 'POST',
          path: '/pets',
          args: { input: 'PetInput!' },
          body: {},
          returnType: 'Pet',
        },
      ],
    }),
  )
  const plugins = [useGrpcSource(people), useRestConnector(pets), ...(given.plugins ?? [])]
  let schema: GraphQLSchema | undefined
  const yoga = createYoga({
    logging: false,
    plugins: [
      ...plugins,
      { onSchemaChange: (change) => void (schema = change.schema as GraphQLSchema) },
    ] as Plugin[],
  })
  yoga.getEnveloped({})
  return {
    schema: schema as unknown as GraphQLSchema,
    async ask(query, variables, headers) {
      const response = await yoga.fetch('http://yoga/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ query, variables }),
      })
      return response.json()
    },
    stop: () => cleanup.dispose(),
  }
}
