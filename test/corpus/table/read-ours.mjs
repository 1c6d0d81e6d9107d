// Our own reader of one document, in a process of its own: `node read-ours.mjs FILE`.
import { createRestConnector, importOpenApi } from '@vinyasa/rest-connector'
import {
  GraphQLInputObjectType,
  GraphQLEnumType,
  GraphQLInterfaceType,
  GraphQLObjectType,
  GraphQLUnionType,
  validateSchema,
} from 'graphql'

const { endpoints, types: definitions, findings } = await importOpenApi(process.argv[2])
const { schema } = createRestConnector('api', {
  baseUrl: 'http://127.0.0.1:1',
  endpoints,
  types: definitions,
})
const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'))
const count = (kind) => types.filter((type) => type instanceof kind).length
const { user, system } = process.cpuUsage()
console.log(
  JSON.stringify({
    operations: endpoints.length,
    others: 0,
    skipped: findings.flatMap(({ message }) => {
      const found = / is skipped: (?!only GET)(.*)$/.exec(message)
      return found ? [message] : []
    }),
    objects: count(GraphQLObjectType),
    inputs: count(GraphQLInputObjectType),
    enums: count(GraphQLEnumType),
    unions: count(GraphQLUnionType) + count(GraphQLInterfaceType),
    errors: validateSchema(schema).length,
    seconds: (user + system) / 1e6,
    megabytes: process.resourceUsage().maxRSS / 1024,
  }),
)
