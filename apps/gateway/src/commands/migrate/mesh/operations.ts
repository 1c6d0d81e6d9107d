import { isRecord } from '@vinyasa/core'
import { type FieldDefinitionNode, Kind, parseType } from 'graphql'
import type { Transforms } from './transforms.ts'
import { headersOf, listOf, type MeshYaml, type Path } from './yaml.ts'
import { queryOf, type JoinedField, RestDrafts, type RestCall, type Taken } from '../rest-draft.ts'
import { textOf, Unsaid, type Values } from '../migration.ts'
import type { OldDocument } from '../old-document.ts'
import type { TypeWords } from '../sdl-types.ts'

interface Operation {
  readonly source: string
  readonly call: RestCall
  readonly path: Path
  readonly joins: JoinedField[]
}

/** Sources of Mesh's JSON schema handler: each operation is an endpoint. */
export class MeshOperations {
  readonly #old: OldDocument
  readonly #yaml: MeshYaml
  readonly #rest: RestDrafts
  readonly #found: Operation[] = []
  readonly #joined = new Set<string>()

  constructor(old: OldDocument, yaml: MeshYaml) {
    this.#old = old
    this.#yaml = yaml
    this.#rest = new RestDrafts(old)
  }

  readSource(source: string, handler: Values, transforms: Transforms, path: Path): void {
    const { headers, forwarded } = headersOf(handler['operationHeaders'], (text) =>
      this.#note([...path, 'operationHeaders'], text),
    )
    const baseUrl = textOf(handler['endpoint'] ?? handler['baseUrl'])
    this.#rest.open(source, { baseUrl, defaultHeaders: headers }, forwarded)
    for (const [index, operation] of listOf(handler['operations']).entries()) {
      const at = [...path, 'operations', index]
      this.#old.attempt(this.#yaml.lineOf(at), String(operation['field']), () => {
        const call = this.#callOf(operation, transforms)
        this.#found.push({ source, call, path: at, joins: [] })
        // A field of the schema that Mesh built stands somewhere in it.
        if (!call.field.loc) this.#noteUnknown(call, at)
      })
    }
  }

  /** `additionalResolvers`: a field of a type that an operation fills. */
  readJoins(): void {
    const given = this.#yaml.data['additionalResolvers']
    for (const [index, one] of (Array.isArray(given) ? given : []).entries()) {
      const path = ['additionalResolvers', index]
      const join: Values = isRecord(one) ? one : {}
      const target = `${String(join['targetTypeName'])}.${String(join['targetFieldName'])}`
      const operation = this.#found.find(({ call }) => call.name === join['sourceFieldName'])
      const args = argsOf(join['sourceArgs'] ?? join['args'])
      const pubsub =
        join['pubsubTopic'] === undefined
          ? undefined
          : `${String(join['type'] ?? join['targetTypeName'])}.${String(join['field'] ?? join['targetFieldName'])}`
      if (pubsub !== undefined)
        this.#note(
          path,
          `${pubsub}: pubsub events have no equivalent; write a resolver in a TypeScript config`,
        )
      else if (!isRecord(one))
        this.#note(path, `${String(one)}: code cannot be converted; add the resolvers in a TypeScript config`)
      else if (!operation || !args || join['result'] !== undefined || join['keysArg'] !== undefined)
        this.#note(
          path,
          `${target}: this resolver cannot be converted; use "joins" of a gRPC source, "on" of a REST endpoint, or a resolver in a TypeScript config`,
        )
      else {
        operation.joins.push({
          type: String(join['targetTypeName']),
          field: String(join['targetFieldName']),
          args,
        })
        this.#joined.add(target)
      }
    }
  }

  write(): Record<string, object> {
    for (const { source, call, path, joins } of this.#found)
      this.#old.attempt(this.#yaml.lineOf(path), call.name, () => this.#rest.add(source, call, joins))
    const placeOf: TypeWords['placeOf'] = (type, field) =>
      this.#joined.has(`${type}.${field.name.value}`) ? undefined : {}
    return this.#rest.write({ placeOf, more: () => ({}) }, new Set(), true)
  }

  #callOf(operation: Values, { rename = {}, prefix = {} }: Transforms): RestCall {
    const parent = String(operation['type'] ?? 'Query')
    const own = String(operation['field'])
    const name = rename[`${parent}.${own}`] ?? `${prefix.fields ?? ''}${own}`
    const known = this.#old.fieldsOf(parent).find((field) => field.name.value === name)
    const taken: Taken = { args: new Set(), parents: new Map() }
    const types = isRecord(operation['argTypeMap']) ? operation['argTypeMap'] : {}
    const [path = '', search = ''] = toTemplate(String(operation['path'] ?? ''), taken).split(/\?(.*)/s)
    const params = isRecord(operation['queryParamArgMap'])
      ? Object.entries(operation['queryParamArgMap'])
      : []
    for (const [, arg] of params) taken.args.add(String(arg))
    const method = String(operation['method'] ?? (parent === 'Mutation' ? 'POST' : 'GET')).toUpperCase()
    const hasInput = known?.arguments?.some((one) => one.name.value === 'input') ?? false
    if (hasInput && method !== 'GET') taken.args.add('input')
    return {
      parent,
      field: known ?? fieldNode(name, taken, types),
      name,
      method,
      path: path.startsWith('/') ? path : `/${path}`,
      query: [...queryOf(search), ...params.map(([param, arg]) => [param, `{${String(arg)}}`] as const)],
      headers: headersOf(operation['headers'], (text) => {
        throw new Unsaid(text)
      }).headers,
      body: hasInput && method !== 'GET' ? { arg: 'input' } : undefined,
      taken,
    }
  }

  #noteUnknown({ name, method, body }: RestCall, path: Path): void {
    const sends = method === 'GET' || method === 'DELETE' || body ? '' : ' and sends no body'
    const needs = 'run `mesh build`, then run init again'
    this.#note(
      path,
      `${name}: the operation returns JSON${sends} because .mesh/schema.graphql does not define the field; ${needs}`,
    )
  }

  #note(path: Path, text: string): void {
    this.#old.note(this.#yaml.lineOf(path), text)
  }
}

/** `{args.id}` is `{id}`. Throws {@link Unsaid}. */
function toTemplate(text: string, taken: Taken): string {
  return text.replaceAll(/(?<!\$)\{([^{}]*)\}/g, (whole, expression: string) => {
    const name = /^args\.(\w+)$/.exec(expression)?.[1]
    if (name === undefined)
      throw new Unsaid(`${whole} has no equivalent; write a resolver in a TypeScript config`)
    taken.args.add(name)
    return `{${name}}`
  })
}

/** `{ id: "{root.authorId}" }`: the arguments, each a field of the parent. */
function argsOf(given: unknown): Record<string, string> | undefined {
  const args = Object.entries(isRecord(given) ? given : {}).map(
    ([name, value]) => [name, /^\{root\.(\w+)\}$/.exec(String(value))?.[1]] as const,
  )
  if (args.length === 0 || args.some(([, field]) => field === undefined)) return undefined
  return Object.fromEntries(args.map(([name, field]) => [name, `{${field}}`]))
}

/** The type of an argument that `argTypeMap` gives: by its name, or by a JSON schema. */
function argumentType(given: unknown): string {
  if (!isRecord(given)) return textOf(given) ?? 'String'
  const type = textOf(given['type']) ?? 'String'
  if (type === 'array') return `[${argumentType(given['items'])}]`
  return JSON_TYPES[type] ?? type
}

const JSON_TYPES: Readonly<Record<string, string>> = {
  string: 'String',
  integer: 'Int',
  number: 'Float',
  boolean: 'Boolean',
  object: 'JSON',
}

/** The field of an operation whose type nobody says: JSON. */
function fieldNode(name: string, taken: Taken, types: Values): FieldDefinitionNode {
  const node = (text: string) => ({ kind: Kind.NAME, value: text }) as const
  return {
    kind: Kind.FIELD_DEFINITION,
    name: node(name),
    type: parseType('JSON'),
    arguments: [...taken.args].map((arg) => ({
      kind: Kind.INPUT_VALUE_DEFINITION,
      name: node(arg),
      type: parseType(argumentType(types[arg])),
    })),
  }
}
