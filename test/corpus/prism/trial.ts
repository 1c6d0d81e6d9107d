import { readFileSync } from 'node:fs'
import {
  createRestConnector,
  importOpenApi,
  useRestConnector,
  type RestConnector,
  type RestEndpoint,
  type TypeDefinitions,
} from '@vinyasa/rest-connector'
import type { GraphQLField, GraphQLInputType, GraphQLSchema } from 'graphql'
import { createYoga } from 'graphql-yoga'
import { createChance, type Chance } from './chance.ts'
import { startPrism, type Violation } from './prism-upstream.ts'
import { asNode, createSampler, resolveIn, type Node, type Sampler } from './schema-sample.ts'
import { selectionOf } from './selection.ts'
import { NotExpressible, thinOut, toVariable } from './to-variables.ts'

/** What is the matter with one operation. */
export interface Fault {
  readonly operation: string
  /** `refused`: by Prism; `inexpressible`: no variables say it; `answer`: an error about an answer that keeps its schema. */
  readonly kind: 'refused' | 'inexpressible' | 'answer'
  readonly reason: string
}

/** What a number of operations of one document came to. */
export interface Trial {
  readonly sent: number
  readonly faults: readonly Fault[]
  /** What the document or Prism, and not the request, is to blame for, by operation. */
  readonly excused: ReadonlyMap<string, string>
  /** Mocks that break the schema of their own document, by operation. */
  readonly brokenMocks: ReadonlyMap<string, string>
}

interface Subject {
  readonly name: string
  readonly endpoint: RestEndpoint
  readonly field: GraphQLField<unknown, unknown>
  readonly kind: 'query' | 'mutation'
}

export interface TrialOptions {
  readonly file: string
  readonly seed: number
  readonly operations: number
}

/** Sends operations made by chance of a document through its schema to Prism. */
export async function tryDocument({ file, seed, operations }: TrialOptions): Promise<Trial> {
  const root = asNode(JSON.parse(readFileSync(file, 'utf8')))
  const chance = createChance(seed)
  await using prism = await startPrism(structuredClone(root), String(seed))
  const env = new Proxy<Record<string, string>>({}, { get: () => 'a-key' })
  const { endpoints, types, interceptors } = await importOpenApi(root, { baseUrl: prism.url, env })
  await using connector = createRestConnector('api', {
    baseUrl: prism.url,
    endpoints,
    types,
    interceptors,
    exposeErrors: true,
    retry: { maxRetries: 0 },
  })
  const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false, maskedErrors: false })
  const subjects = subjectsOf(connector, endpoints)
  const sampler = createSampler(root, chance)
  const faults: Fault[] = []
  const excused = new Map<string, string>()
  const brokenMocks = new Map<string, string>()
  // All of them in turn, from a place that the seed chooses.
  let next = chance.integer(0, subjects.length - 1)
  for (let sent = 0; sent < operations; sent++) {
    const subject = subjects[next++ % subjects.length] as Subject
    const fault = await tryOne(subject)
    if (fault) faults.push({ operation: subject.name, ...fault })
  }
  return { sent: operations, faults, excused, brokenMocks }

  async function tryOne(subject: Subject): Promise<Omit<Fault, 'operation'> | undefined> {
    let variables: Record<string, unknown>
    try {
      variables = variablesOf(subject, root, { sampler, chance, types })
    } catch (error) {
      if (error instanceof NotExpressible) return { kind: 'inexpressible', reason: error.message }
      throw error
    }
    const response = await yoga.fetch('http://localhost/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: documentOf(connector.schema, subject, variables), variables }),
    })
    const { errors = [] } = (await response.json()) as { errors?: { message: string; extensions?: object }[] }
    const exchanges = prism.take()
    const told = `${JSON.stringify(variables)} ${JSON.stringify(errors)}`.slice(0, 1500)
    const undescribed = sampler.undescribed()
    const refusals = exchanges
      .flatMap(({ request }) => request)
      .filter((one) => !isPrismsOwn(one, subject.endpoint))
    const isExcused = refusals.length > 0 && refusals.every((one) => isOfUndescribed(one, undescribed))
    if (isExcused) {
      excused.set(subject.name, `requires what no schema describes: ${undescribed.join(', ')}`)
      return undefined
    }
    if (exchanges.length === 0 || refusals.length > 0)
      return { kind: 'refused', reason: `${refusals.map(describe).join('; ') || 'never arrived'} ${told}` }
    if (errors.length === 0) return undefined
    if (exchanges.some(({ request }) => request.length > 0)) {
      excused.set(subject.name, 'Prism alone refuses it')
      return undefined
    }
    const broken = exchanges.flatMap(({ response: found }) => found)
    if (broken.length === 0) return { kind: 'answer', reason: told }
    brokenMocks.set(subject.name, broken.map(describe).join('; '))
    return undefined
  }
}

/**
 * "Parameter Object", `name`: a header parameter "Accept" is to be ignored. "Encoding Object": the part of an object is
 * JSON, which Prism takes for text.
 */
function isPrismsOwn({ path = [], code, message }: Violation, { body }: RestEndpoint): boolean {
  const isJsonPart = body?.contentType?.startsWith('multipart/') && code === 'type' && path.length === 2
  return (
    path.join('.').toLowerCase() === 'header.accept' ||
    (isJsonPart && / (object|array)$/.test(message)) ||
    false
  )
}

function isOfUndescribed({ code, message }: Violation, undescribed: readonly string[]): boolean {
  return code === 'required' && undescribed.some((key) => message.endsWith(`'${key}'`))
}

function describe({ path = [], code, message }: Violation): string {
  return `${path.join('.')} ${code ?? ''}: ${message}`
}

function subjectsOf(connector: RestConnector, endpoints: readonly RestEndpoint[]): readonly Subject[] {
  // Paths that only a fragment or a query tells apart are one to Prism, which answers for the first.
  const requests = endpoints.map(requestOf)
  const twice = new Set(requests.filter((one, index) => requests.indexOf(one) !== index))
  const roots = { query: connector.schema.getQueryType(), mutation: connector.schema.getMutationType() }
  return endpoints.flatMap((endpoint): readonly Subject[] => {
    if (twice.has(requestOf(endpoint))) return []
    const kind = endpoint.method === 'GET' ? 'query' : 'mutation'
    const field = roots[kind]?.getFields()[endpoint.name]
    return field ? [{ name: `${endpoint.method} ${endpoint.path}`, endpoint, field, kind }] : []
  })
}

function requestOf({ method = 'GET', path }: RestEndpoint): string {
  return `${method} ${path}`
}

function documentOf(
  schema: GraphQLSchema,
  { kind, field }: Subject,
  variables: Record<string, unknown>,
): string {
  const given = field.args.filter(({ name }) => name in variables)
  const declared = given.map(({ name, type }) => `$${name}: ${String(type)}`).join(', ')
  const passed = given.map(({ name }) => `${name}: $${name}`).join(', ')
  const inParentheses = (text: string): string => (text === '' ? '' : `(${text})`)
  return `${kind}${inParentheses(declared)} { ${field.name}${inParentheses(passed)} ${selectionOf(schema, field.type)} }`
}

/** Variables that stand for values which the document's own schemas allow. */
function variablesOf(
  { endpoint, field }: Subject,
  root: Node,
  tools: { readonly sampler: Sampler; readonly chance: Chance; readonly types: TypeDefinitions },
): Record<string, unknown> {
  const { sampler, chance, types } = tools
  const schemas = schemasOf(endpoint, root)
  const isDropped = (): boolean => chance.next() < 0.2
  const variables: Record<string, unknown> = {}
  for (const { name, type, defaultValue } of field.args) {
    const isRequired = String(type).endsWith('!') && defaultValue === undefined
    if (!isRequired && chance.next() < 0.4) continue
    const schema = schemas.get(name)
    if (schema === undefined) throw new NotExpressible(`the document has no "${name}"`)
    const value = toVariable(sampler.sample(schema), type as GraphQLInputType, types)
    variables[name] = thinOut(value, type as GraphQLInputType, isDropped)
  }
  return variables
}

/** The document's schemas by the names of the field's arguments. */
function schemasOf(
  { method = 'GET', path, parameters = [], body }: RestEndpoint,
  root: Node,
): Map<string, unknown> {
  const item = resolveIn(root, asNode(root['paths'])[path])
  const operation = asNode(item[method.toLowerCase()])
  const schemas = new Map<string, unknown>()
  const declared = [item['parameters'], operation['parameters']].flat().map((one) => resolveIn(root, one))
  for (const { name, in: place, arg = name } of parameters) {
    const found = declared.findLast((one) => one['name'] === name && one['in'] === place) ?? {}
    const [content] = Object.values(asNode(found['content']))
    schemas.set(arg, found['schema'] ?? asNode(content)['schema'] ?? {})
  }
  if (!body) return schemas
  const content = asNode(resolveIn(root, operation['requestBody'])['content'])
  const { arg = 'input', contentType = 'application/json' } = body
  const media = asNode(content[contentType] ?? content['*/*'])
  schemas.set(arg, media['schema'] ?? { type: 'string', format: 'binary' })
  return schemas
}
