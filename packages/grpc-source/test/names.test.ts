import * as fc from 'fast-check'
import { validateSchema } from 'graphql'
import { describe, expect, it } from 'vitest'
import { source } from './harness.ts'
import { changedNames } from './changed-names.ts'

/** Packages, messages and services whose names meet in every way that short names can. */
const PACKAGES = ['a.v1', 'a.v2', 'b']
const MESSAGES = [
  'Text',
  'TextInput',
  'AB',
  'Query',
  'Subscription',
  'DateTime',
  'Type',
  'TextKvEntry',
  'String',
]

describe('every set of services gives a valid schema', () => {
  const method = fc.record({
    name: fc.constantFrom('Get', 'List', 'GetAll', 'Put', 'Watch', 'text', 'Query'),
    input: fc.constantFrom(...MESSAGES),
    output: fc.constantFrom(...MESSAGES),
    isStream: fc.boolean(),
  })
  const services = fc.array(
    fc.record({
      package: fc.constantFrom(...PACKAGES),
      name: fc.constantFrom('S', 'T', 'IAMPolicy', 'Query'),
      methods: fc.uniqueArray(method, { selector: ({ name }) => name, minLength: 1, maxLength: 4 }),
    }),
    { minLength: 1, maxLength: 4 },
  )

  it('without a word of typeNames or methods', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(services, fc.boolean(), async (declared, isQualified) => {
        const protoText = Object.fromEntries(
          PACKAGES.map((name) => [`${name}.proto`, fileOf(name, declared)]),
        )
        const grpc = await source({
          protoText,
          endpoint: 'x:1',
          expose: 'all',
          typeNaming: isQualified ? 'qualified' : 'short',
        })
        const { schema } = grpc
        // A server adds what only it can know: whether any source has a query.
        const errors = validateSchema(schema).filter(({ message }) => !message.startsWith('Query root type'))
        expect(errors).toEqual([])
        const fields = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
        const count = fields.reduce((sum, type) => sum + Object.keys(type?.getFields() ?? {}).length, 0)
        expect(count).toBe(countMethods(declared))
        await grpc.close()
      }),
      { numRuns: 60 },
    )
  })
})

describe('a service that is added behind all others', () => {
  const word = fc.constantFrom('Get', 'List', 'Put', 'aGet', 'a_Get', 'S')
  const message = fc.constantFrom(...MESSAGES)
  const service = fc.record({
    package: fc.constantFrom(...PACKAGES),
    methods: fc.uniqueArray(
      fc.record({ name: word, input: message, output: message, isStream: fc.boolean() }),
      {
        selector: ({ name }) => name,
        minLength: 1,
        maxLength: 3,
      },
    ),
  })
  const options = fc.record({
    oneofs: fc.constantFrom<'fields' | 'union'>('fields', 'union'),
    maps: fc.constantFrom<'entries' | 'json'>('entries', 'json'),
  })

  it(
    'changes no field, argument or type that was there, and is told where it gives way',
    { timeout: 120_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(service, { minLength: 2, maxLength: 5 }), options, async (all, more) => {
          const files = all.map((one, index) => [
            // The one that is added comes first in the alphabet.
            `s${9 - index}.proto`,
            `syntax = "proto3"; package ${one.package}; import "${one.package}.proto"; service S${index} { ${one.methods
              .map(
                ({ name, input, output, isStream }) =>
                  `rpc ${name}(${input}) returns (${isStream ? 'stream ' : ''}${output});`,
              )
              .join(' ')} }`,
          ])
          // Files that no service is in stand behind them all.
          const messages = PACKAGES.map((name) => [`${name}.proto`, fileOf(name, [])])
          const open = (some: typeof files) =>
            source({
              protoText: Object.fromEntries([...some, ...messages]),
              endpoint: 'x:1',
              expose: 'all',
              ...more,
            })
          const before = await open(files.slice(0, -1))
          const after = await open(files)
          expect(changedNames(before.schema, after.schema)).toEqual([])
          expect(before.notes.filter((note) => !after.notes.includes(note))).toEqual([])
          await Promise.all([before.close(), after.close()])
        }),
        { numRuns: 80 },
      )
    },
  )

  it('is told by name, with whom it gives way to', async () => {
    const file = (name: string) =>
      `syntax = "proto3"; package ${name}; message M { string ${name} = 1; } service S { rpc Get(M) returns (M); }`
    const grpc = await source({
      protoText: { 'b.proto': file('b'), 'a.proto': file('a') },
      endpoint: 'x:1',
      expose: 'all',
    })
    expect(Object.keys(grpc.schema.getQueryType()?.getFields() ?? {})).toEqual(['get', 'sGet'])
    expect(grpc.notes).toEqual([
      'a.S.Get is called "sGet", because b.S.Get already has the name "get"',
      'a.M is called "AM", because b.M already has the name "M"',
    ])
  })

  it('gives way to a name that somebody chose, wherever that stands', async () => {
    const text = `syntax = "proto3"; package a; import "graphql.proto"; message M { string id = 1; }
      service S { rpc Get(M) returns (M); }
      service T { rpc Fetch(M) returns (M) { option (graphql.schema) = { type: QUERY name: "get" }; } }`
    const grpc = await source({ protoText: { 'a.proto': text }, endpoint: 'x:1', expose: 'all' })
    expect(grpc.notes).toEqual(['a.S.Get is called "sGet", because a.T.Fetch already has the name "get"'])
  })
})

type Declared = readonly {
  readonly package: string
  readonly name: string
  readonly methods: readonly { name: string; input: string; output: string; isStream: boolean }[]
}[]

function unique(declared: Declared): Declared {
  return [...new Map(declared.map((service) => [`${service.package}.${service.name}`, service])).values()]
}

function countMethods(declared: Declared): number {
  return unique(declared).reduce((sum, { methods }) => sum + methods.length, 0)
}

/** Every message holds every other of its package, as a field, a list, a map and in a oneof. */
function fileOf(name: string, declared: Declared): string {
  const services = unique(declared).filter((service) => service.package === name)
  const messages = MESSAGES.map((message, index) => {
    const other = MESSAGES[(index + 1) % MESSAGES.length]
    return `message ${message} {
      string id = 1; ${other} one = 2; repeated ${other} many = 3; map<string, ${other}> kv = 4;
      oneof type { string text = 5; Inner inner = 6; }
      message Inner { int32 n = 1; Input input = 2; } message Input { int32 n = 1; } message B { int32 n = 1; } B b = 7;
    }`
  })
  const written = services.map(
    (service) =>
      `service S${service.name} { ${service.methods
        .map(
          ({ name: rpc, input, output, isStream }) =>
            `rpc ${rpc}(${input}) returns (${isStream ? 'stream ' : ''}${output});`,
        )
        .join(' ')} }`,
  )
  return `syntax = "proto3"; package ${name}; ${messages.join(' ')} message A { int32 n = 1; message B { int32 n = 1; } } ${written.join(' ')}`
}

describe('expose', () => {
  const protoText = {
    'own.proto':
      'syntax = "proto3"; package own; import "other.proto"; service Own { rpc Get(other.M) returns (other.M); rpc Put(other.M) returns (other.M); }',
  }
  const files = {
    'other.proto':
      'syntax = "proto3"; package other; message M { string id = 1; } service Admin { rpc GetIt(M) returns (M); }',
  }

  async function fieldsOf(options: object): Promise<string[]> {
    const { schema } = await source({ protoText: { ...protoText, ...files }, endpoint: 'x:1', ...options })
    return [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
      Object.keys(type?.getFields() ?? {}),
    )
  }

  it.each<[string, readonly string[], string[]]>([
    ['a package', ['own.*'], ['get', 'put']],
    ['a service', ['other.Admin'], ['getIt']],
    ['a method', ['own.Own.Get'], ['get']],
    ['all but one', ['*', '!other.Admin'], ['get', 'put']],
    ['only what is left out', ['!own.Own.Put'], ['get', 'getIt']],
    ['the last word counts', ['*', '!own.*', 'own.Own/Put'], ['getIt', 'put']],
  ])('patterns: %s', async (_what, expose, expected) => {
    expect((await fieldsOf({ expose })).toSorted()).toEqual(expected.toSorted())
  })
})
