import type { GraphQLObjectType } from 'graphql'
import { expect, it } from 'vitest'
import type { GrpcSourceOptions } from '../src/index.ts'
import { source } from './harness.ts'

const PROTO = `
  syntax = "proto3"; package shop.v1;
  enum Kind { KIND_UNSPECIFIED = 0; }
  message User { string id = 1; string secret = 2; Kind kind = 3; message Card { string number = 1; } Card card = 4; }
  message Empty {}
  service Users { rpc GetUser(Empty) returns (User); }`

const open = (settings: Partial<GrpcSourceOptions>) =>
  source({ protoText: { 'shop.proto': PROTO }, endpoint: '127.0.0.1:1', expose: 'all', ...settings })

it.each<[Partial<GrpcSourceOptions>, string]>([
  [
    { fields: { 'shop.v1.User.secrte': { omit: true } } },
    'fields: the protos have no field "shop.v1.User.secrte"; did you mean "shop.v1.User.secret"?',
  ],
  [
    { typeNames: { 'shop.v1.Usr': 'Person' } },
    'typeNames: the protos have no message or enum "shop.v1.Usr"; did you mean "shop.v1.User"?',
  ],
  [
    { endpoints: { 'shop.v1.User': '127.0.0.1:2' } },
    'endpoints: the protos have no service "shop.v1.User"; did you mean "shop.v1.Users"?',
  ],
  [
    { methods: { 'shop.v1.Users.GetUsr': { timeoutMs: 5 } } },
    'methods: the protos have no method "shop.v1.Users.GetUsr"; did you mean "shop.v1.Users.GetUser"?',
  ],
  [
    { endpoints: { Users: '127.0.0.1:2' } },
    'the protos have no service "Users"; write the full name, for example "shop.v1.Users"',
  ],
])('%j is refused at the start', async (settings, message) => {
  await expect(open(settings)).rejects.toThrow(message)
})

it('what is there is taken, however it is written', async () => {
  const { schema } = await open({
    fields: { 'shop.v1.User.secret': { omit: true }, 'shop.v1.User.Card.number': { name: 'digits' } },
    typeNames: { 'shop.v1.User.Card': 'Card', 'shop.v1.Kind': 'UserKind' },
    endpoints: { 'shop.v1.Users': '127.0.0.1:2' },
    methods: { 'shop.v1.Users/GetUser': { timeoutMs: 5 } },
  })
  expect(Object.keys((schema.getType('User') as GraphQLObjectType).getFields())).toEqual([
    'id',
    'kind',
    'card',
  ])
  expect(schema.getType('Card')).toBeDefined()
  expect(schema.getType('UserKind')).toBeDefined()
})
