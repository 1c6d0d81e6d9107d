// Mesh's own reader of one document, in a process of its own: `node read-mesh.mjs FILE`.
import { loadNonExecutableGraphQLSchemaFromOpenAPI } from '@omnigraph/openapi'
import {
  GraphQLInputObjectType,
  GraphQLEnumType,
  GraphQLObjectType,
  GraphQLUnionType,
  validateSchema,
} from 'graphql'

const logger = { child: () => logger }
for (const level of ['debug', 'info', 'warn', 'error', 'log']) logger[level] = () => {}

const schema = await loadNonExecutableGraphQLSchemaFromOpenAPI('api', {
  source: process.argv[2],
  cwd: process.cwd(),
  ignoreErrorResponses: true,
  fetch,
  logger,
})

/** Operations of the methods that both make fields of; Mesh has HEAD, OPTIONS and TRACE beside them. */
const others = new Set(['HEAD', 'OPTIONS', 'TRACE'])
const fields = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
  type ? Object.values(type.getFields()) : [],
)
const methodOf = ({ astNode }) =>
  astNode?.directives
    ?.find(({ name }) => name.value === 'httpOperation')
    ?.arguments.find(({ name }) => name.value === 'httpMethod')?.value.value
const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'))
const count = (kind) => types.filter((type) => type instanceof kind).length
const { user, system } = process.cpuUsage()
console.log(
  JSON.stringify({
    operations: fields.filter((field) => methodOf(field) !== undefined && !others.has(methodOf(field)))
      .length,
    others: fields.filter((field) => others.has(methodOf(field))).length,
    objects: count(GraphQLObjectType),
    inputs: count(GraphQLInputObjectType),
    enums: count(GraphQLEnumType),
    unions: count(GraphQLUnionType),
    errors: validateSchema(schema).length,
    seconds: (user + system) / 1e6,
    megabytes: process.resourceUsage().maxRSS / 1024,
  }),
)
