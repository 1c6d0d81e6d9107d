import { asList, asNode, asText, type Node, type OpenApiDocument } from '../openapi-document.ts'

const FORM = 'application/x-www-form-urlencoded'
const MULTIPART = 'multipart/form-data'

/** The members of a parameter that are its own; the others are those of its schema. */
const OF_PARAMETER: ReadonlySet<string> = new Set([
  'name',
  'in',
  'required',
  'collectionFormat',
  'allowEmptyValue',
])

/** How lists are written, in the words of "Style Values"; `tabDelimited` is ours. */
const LIST_STYLES: Readonly<Record<string, string>> = {
  csv: 'form',
  ssv: 'spaceDelimited',
  tsv: 'tabDelimited',
  pipes: 'pipeDelimited',
  multi: 'form',
}

/**
 * Returns the parameters and the body of an operation as OpenAPI 3.0 writes them. The references of the parameters of the
 * path and of the operation are resolved.
 */
function inputOf(
  method: string,
  ofPath: readonly Node[],
  own: readonly Node[],
  consumes: readonly string[],
): Node {
  const isBody = (one: Node): boolean => one['in'] === 'body'
  const isForm = (one: Node): boolean => one['in'] === 'formData'
  const plain = (list: readonly Node[]): Node[] => list.filter((one) => !isBody(one) && !isForm(one))
  const replaced = new Set(plain(own).map(keyOf))
  const parameters = [...plain(ofPath).filter((one) => !replaced.has(keyOf(one))), ...plain(own)]
  // A body of the operation stands for that of the path, of whichever kind it is.
  const bodies = own.some((one) => isBody(one) || isForm(one)) ? own : ofPath
  const body = bodies.find(isBody)
  const byName = new Map([...(body ? [] : ofPath), ...own].filter(isForm).map((one) => [keyOf(one), one]))
  const form = [...byName.values()]
  const requestBody = body ? bodyOf(body, consumes) : form.length > 0 ? formOf(form, consumes) : undefined
  // A body that all methods of a path share is none that GET must have.
  const isShared = method === 'get' && bodies === ofPath
  // There can be one body: a second one stays as it is, and is told to be no parameter.
  const others = bodies.filter((one) => body !== undefined && one !== body && (isBody(one) || isForm(one)))
  return {
    parameters: [...parameters.map(parameterOf), ...others],
    ...(requestBody && { requestBody: isShared ? { ...requestBody, required: false } : requestBody }),
  }
}

function keyOf(parameter: Node): string {
  return `${asText(parameter['in'])} ${asText(parameter['name']) ?? asText(parameter['$ref'])}`
}

function parameterOf(given: Node): Node {
  if (asText(given['$ref']) !== undefined) return given
  return { ...given, schema: schemaOf(given, false), ...(given['type'] === 'array' && listStyle(given)) }
}

/** The schema among a parameter's members. */
function schemaOf(given: Node, isDescribed: boolean): Node {
  return Object.fromEntries(
    Object.entries(given).filter(([key]) => !OF_PARAMETER.has(key) && (isDescribed || key !== 'description')),
  )
}

function listStyle({ in: place, collectionFormat = 'csv' }: Node): Node {
  const format = String(collectionFormat)
  // Lists of a path or of a header have but one style in OpenAPI 3; the reader tells what it has no words for.
  if (place === 'path' || place === 'header')
    return format === 'csv' ? { style: 'simple' } : { style: format }
  const style = LIST_STYLES[format]
  return style === undefined ? { style: format } : { style, explode: format === 'multi' }
}

function bodyOf({ schema, description, required }: Node, consumes: readonly string[]): Node {
  return {
    ...(description !== undefined && { description }),
    ...(required !== undefined && { required }),
    content: Object.fromEntries(consumes.map((type) => [type, { schema }])),
  }
}

function formOf(members: readonly Node[], consumes: readonly string[]): Node {
  const hasFile = members.some(({ type }) => type === 'file')
  const usable = consumes.filter((type) => type.startsWith(MULTIPART) || (type.startsWith(FORM) && !hasFile))
  const types = usable.length > 0 ? usable : [hasFile ? MULTIPART : FORM]
  const required = members.filter((one) => one['required'] === true).map(({ name }) => name)
  const schema = {
    type: 'object',
    properties: Object.fromEntries(members.map((one) => [String(one['name']), schemaOf(one, true)])),
    required,
  }
  const lists = members.filter(({ type }) => type === 'array')
  const encoding = Object.fromEntries(lists.map((one) => [String(one['name']), listStyle(one)]))
  const media = { schema, ...(lists.length > 0 && { encoding }) }
  const content = Object.fromEntries(types.map((type) => [type, media]))
  return { ...(required.length > 0 && { required: true }), content }
}

const METHODS: ReadonlySet<string> = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch'])
const JSON_TYPE = 'application/json'

/**
 * Says in the words of OpenAPI 3.0 what a Swagger 2 document says. Shared parameters and responses stand in each operation
 * that refers to them, as their media types are those of the operation. A part that is wrong, or refers to nowhere,
 * stays as it is: whoever reads it tells that.
 */
export function fromSwagger2(document: OpenApiDocument): Node {
  const { root } = document
  const { swagger: _, definitions, securityDefinitions, parameters: _2, responses: _3, ...rest } = root
  const paths = document.resolve(root['paths'])
  return {
    ...rest,
    openapi: '3.0.4',
    ...serversOf(root, asList(root['schemes']), document.url),
    components: {
      schemas: definitions,
      securitySchemes: mapped(asNode(securityDefinitions), securityScheme),
    },
    paths: mapped(paths, (item, path) => (path.startsWith('x-') ? item : pathItem(item, document))),
  }
}

function pathItem(given: unknown, document: OpenApiDocument): unknown {
  const { $ref: _, ...beside } = asNode(given)
  const found = document.find(given)
  if (found === undefined) return given
  const { parameters, ...item } = { ...found, ...beside }
  return mapped(item, (member, method) => {
    const own = document.find(member)
    if (!METHODS.has(method) || own === undefined || typeof member !== 'object' || member === null)
      return member
    return operation(own, method, parameters, document)
  })
}

function operation(given: Node, method: string, ofPath: unknown, document: OpenApiDocument): Node {
  const { consumes, produces, schemes, parameters, responses, ...rest } = given
  const { root } = document
  const mediaTypes = (own: unknown, shared: unknown): readonly string[] => {
    const listed = asList(own ?? shared).filter((one) => typeof one === 'string')
    return listed.length > 0 ? listed : [JSON_TYPE]
  }
  const types = mediaTypes(produces, root['produces'])
  const answers = mapped(asNode(responses), (one) => {
    const response = document.find(one)
    return response === undefined ? one : responseOf(response, types, document)
  })
  const wanted = asList(schemes)
  const usual = asList(root['schemes'])
  const isElsewhere = wanted.length > 0 && usual.length > 0 && !wanted.includes(usual[0])
  return {
    ...rest,
    ...(isElsewhere && serversOf(root, wanted, document.url)),
    ...inputOf(
      method,
      resolvedList(ofPath, document),
      resolvedList(parameters, document),
      mediaTypes(consumes, root['consumes']),
    ),
    responses: answers,
  }
}

/** The parameters; one that refers to nowhere as its reference. */
function resolvedList(given: unknown, document: OpenApiDocument): readonly Node[] {
  return asList(document.find(given)).map((one) => document.find(one) ?? asNode(one))
}

function responseOf(given: Node, produces: readonly string[], document: OpenApiDocument): Node {
  const { schema, headers, ...response } = given
  // A file is what it is, whatever the media types of the other answers are.
  const isFile = document.find(schema)?.['type'] === 'file'
  const others = produces.filter((type) => !/[/+]json\b/.test(type))
  const types = !isFile ? produces : others.length > 0 ? others : ['application/octet-stream']
  return {
    ...response,
    ...(headers !== undefined && {
      headers: mapped(asNode(headers), (header) => {
        const { description, ...own } = asNode(header)
        return { description, schema: own }
      }),
    }),
    ...(schema !== undefined && { content: Object.fromEntries(types.map((type) => [type, { schema }])) }),
  }
}

function serversOf(root: Node, schemes: readonly unknown[], url: string | undefined): Node {
  // A scheme has no place in it: before it another one would make it a host of its own.
  const host = asText(root['host'])?.replace(/^[a-z]+:\/\//i, '')
  const given = asText(root['basePath'])
  // Without its leading slash it would lengthen the name of the host, and with two of them be one.
  const basePath = given?.replace(/^\/*/, '/')
  if (host === undefined) {
    if (given === undefined) return {}
    // Documents that name no host have the whole address here, against the specification.
    return { servers: [{ url: URL.canParse(given) ? given : basePath }] }
  }
  const usual = url?.startsWith('https:') ? 'https' : 'http'
  const known = schemes.filter((scheme) => scheme === 'http' || scheme === 'https')
  const found = known.length > 0 ? known : [usual]
  return { servers: found.map((scheme) => ({ url: `${scheme}://${host}${basePath ?? ''}` })) }
}

const FLOWS: Readonly<Record<string, string>> = {
  application: 'clientCredentials',
  accessCode: 'authorizationCode',
}

function securityScheme(given: unknown): unknown {
  const { type, flow, authorizationUrl, tokenUrl, scopes, ...rest } = asNode(given)
  if (type === 'basic') return { ...rest, type: 'http', scheme: 'basic' }
  if (type !== 'oauth2') return given
  const name = asText(flow) ?? 'implicit'
  return { ...rest, type, flows: { [FLOWS[name] ?? name]: { authorizationUrl, tokenUrl, scopes } } }
}

function mapped(node: Node, of: (value: unknown, key: string) => unknown): Node {
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, of(value, key)]))
}
