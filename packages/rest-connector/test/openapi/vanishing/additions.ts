import type { Node, OperationPlace, SchemaPlace } from './places.ts'

/** Something that a document may say; what it is said of is put there first. */
export interface Addition<Place> {
  readonly name: string
  isFit?(place: Place): boolean
  prepare?(place: Place, document: Node): void
  put(place: Place, document: Node): void
}

const string = { type: 'string' }
const KEY = 'zzAdded'

/** Adds a property, and then says more of it. */
function ofProperty(
  name: string,
  before: Node,
  more: Node,
  way?: 'in' | 'out',
  required = false,
): Addition<SchemaPlace> {
  return {
    name: `${name} of a property`,
    isFit: (place) => way === undefined || place.way === way,
    prepare({ node }) {
      node['properties'][KEY] = { ...before }
      if (required) node['required'] = [...(node['required'] ?? []), KEY]
    },
    put({ node }) {
      Object.assign(node['properties'][KEY], more)
    },
  }
}

/** Says more of an object. */
function ofObject(name: string, more: (place: SchemaPlace) => Node): Addition<SchemaPlace> {
  return {
    name,
    put(place) {
      Object.assign(place.node, more(place))
    },
  }
}

const others = (document: Node): Node => ((document['components'] ??= {})['schemas'] ??= {}) as Node
const firstOf = ({ node }: SchemaPlace): string => Object.keys(node['properties'])[0] as string

export const schemaAdditions: readonly Addition<SchemaPlace>[] = [
  ofProperty('nothing but a name', {}, string),
  ofObject('a property', ({ node }) => ({ properties: { ...node['properties'], [KEY]: string } })),
  ofObject('a property in allOf', ({ node }) => ({
    allOf: [...(node['allOf'] ?? []), { properties: { [KEY]: string } }],
  })),
  ofObject('if and then', (place) => ({
    if: { required: [firstOf(place)] },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: { properties: { [KEY]: string } },
  })),
  ofObject('then with required', (place) => ({
    if: { required: [firstOf(place)] },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: { required: [firstOf(place)] },
  })),
  ofObject('not', () => ({ not: { required: ['a', 'b'] } })),
  ofObject('patternProperties', () => ({ patternProperties: { '^x-': { type: 'integer' } } })),
  {
    name: 'patternProperties of another type than additionalProperties',
    prepare({ node }) {
      node['additionalProperties'] = { type: 'string' }
    },
    put({ node }) {
      node['patternProperties'] = { '^x-': { type: 'integer' } }
    },
  },
  {
    ...ofObject('additionalProperties', () => ({ additionalProperties: { type: 'integer' } })),
    isFit: ({ node }) => !node['additionalProperties'],
  },
  {
    ...ofObject('unevaluatedProperties', () => ({ unevaluatedProperties: { type: 'integer' } })),
    isFit: ({ node }) => !node['additionalProperties'],
  },
  ofObject('dependentSchemas', (place) => ({
    dependentSchemas: { [firstOf(place)]: { properties: { [KEY]: string } } },
  })),
  ofObject('dependentRequired', (place) => ({ dependentRequired: { [firstOf(place)]: ['b'] } })),
  ofObject('propertyNames', () => ({ propertyNames: { pattern: '^a' } })),
  ofObject('a choice of what is required', (place) => ({
    anyOf: [{ required: [firstOf(place)] }, { required: ['b'] }],
  })),
  ofObject('oneOf beside properties', () => ({
    oneOf: ['a', 'b'].map((key) => ({
      properties: { [`${KEY}${key}`]: string },
      required: [`${KEY}${key}`],
    })),
  })),
  ofProperty('an unknown format', string, { format: 'zz-format' }),
  ofProperty('an unknown format of an integer', { type: 'integer' }, { format: 'zz-integer' }),
  ofProperty('a known format', string, { format: 'date-time' }),
  ofProperty('const', string, { const: 'a' }),
  ofProperty('enum', string, { enum: ['a', 'b'] }),
  ofProperty('an object in an enum', { enum: ['a'] }, { enum: ['a', { b: 1 }] }),
  ofProperty('not', string, { not: { const: 'a' } }),
  ofProperty('contains', { type: 'array', items: string }, { contains: { const: 'a' } }),
  ofProperty('prefixItems', { type: 'array', items: string }, { prefixItems: [{ type: 'integer' }] }),
  ofProperty('another type', string, { type: ['string', 'integer'] }),
  ofProperty('deprecated', string, { deprecated: true }, 'out'),
  ofProperty('deprecated', string, { deprecated: true }, 'in'),
  ofProperty('readOnly', string, { readOnly: true }, 'in'),
  ofProperty('writeOnly', string, { writeOnly: true }, 'out'),
  ofProperty('description', string, { description: 'What it is.' }),
  ofProperty('a default of text', string, { default: 'a' }, 'in'),
  ofProperty('a default of a list', { type: 'array', items: string }, { default: ['a'] }, 'in'),
  ofProperty(
    'a default of an object',
    { type: 'object', properties: { a: string } },
    { default: { a: 'b' } },
    'in',
  ),
  ofProperty(
    'a default in allOf',
    { type: 'object' },
    { allOf: [{ properties: { a: string } }, { default: { a: 'b' } }] },
    'in',
  ),
  ofProperty('what is required and nullable', string, { type: ['string', 'null'] }, 'in', true),
  ofProperty('additionalProperties of a map', { type: 'object' }, { additionalProperties: string }),
  {
    name: 'a deprecated schema behind a reference',
    prepare({ node }, document) {
      others(document)['ZzOld'] = { type: 'object', properties: { a: string } }
      node['properties'][KEY] = { $ref: '#/components/schemas/ZzOld' }
    },
    put(_, document) {
      others(document)['ZzOld'].deprecated = true
    },
  },
  {
    name: 'a variant in oneOf',
    prepare: ({ node }) => void (node['properties'][KEY] = { oneOf: choice('a', 'b') }),
    put: ({ node }) => void node['properties'][KEY].oneOf.push(...choice('c')),
  },
  {
    name: 'a mapping to what is no variant',
    isFit: ({ way }) => way === 'out',
    prepare({ node }, document) {
      for (const name of ['ZzA', 'ZzB', 'ZzC']) others(document)[name] = choice('kind', name)[0]
      for (const name of ['ZzA', 'ZzB', 'ZzC']) others(document)[name].properties.kind = string
      const oneOf = ['ZzA', 'ZzB'].map((name) => ({ $ref: `#/components/schemas/${name}` }))
      node['properties'][KEY] = { oneOf, discriminator: { propertyName: 'kind', mapping: {} } }
    },
    put: ({ node }) => void (node['properties'][KEY].discriminator.mapping.c = '#/components/schemas/ZzC'),
  },
  {
    name: 'a subtype',
    prepare({ node }, document) {
      const base = { type: 'object', properties: { kind: string }, discriminator: { propertyName: 'kind' } }
      Object.assign(others(document), { ZzBase: base, ZzA: subtype('a') })
      node['properties'][KEY] = { $ref: '#/components/schemas/ZzBase' }
    },
    put: (_, document) => void (others(document)['ZzB'] = subtype('b')),
  },
  {
    name: 'more subtypes than are types',
    prepare({ node }, document) {
      const base = { type: 'object', properties: { kind: string }, discriminator: { propertyName: 'kind' } }
      others(document)['ZzBase'] = base
      for (let index = 0; index < 101; index++) others(document)[`ZzSub${index}`] = subtype(`a${index}`)
      node['properties'][KEY] = { $ref: '#/components/schemas/ZzBase' }
    },
    put: (_, document) => void (others(document)['ZzSub101'] = subtype('b')),
  },
  {
    name: '$dynamicRef',
    prepare({ node }, document) {
      others(document)['ZzNode'] = { $dynamicAnchor: 'zzNode', type: 'object', properties: { a: string } }
      node['properties'][KEY] = {}
    },
    put: ({ node }) => void (node['properties'][KEY].$dynamicRef = '#zzNode'),
  },
  {
    name: '$dynamicRef to several',
    prepare({ node }, document) {
      for (const name of ['ZzNode', 'ZzOther'])
        others(document)[name] = { $dynamicAnchor: 'zzNode', properties: { a: string } }
      node['properties'][KEY] = {}
    },
    put: ({ node }) => void (node['properties'][KEY].$dynamicRef = '#zzNode'),
  },
]

function choice(...keys: readonly string[]): Node[] {
  return keys.map((key) => ({ type: 'object', properties: { [key]: string }, required: [key] }))
}

function subtype(key: string): Node {
  return { allOf: [{ $ref: '#/components/schemas/ZzBase' }, { properties: { [key]: string } }] }
}

/** Adds a parameter, and then says more of it. */
function ofParameter(name: string, schema: Node, more: Node, place = 'query'): Addition<OperationPlace> {
  return {
    name: `${name} of a parameter in ${place}`,
    prepare({ node }) {
      node['parameters'] = [...(node['parameters'] ?? []), { name: KEY, in: place, schema: { ...schema } }]
    },
    put({ node }) {
      const { schema: moreSchema, ...rest } = more
      const parameter = node['parameters'].at(-1)
      Object.assign(parameter, rest)
      Object.assign(parameter.schema ?? {}, moreSchema)
    },
  }
}

const list = { type: 'array', items: string }
const object = { type: 'object', properties: { a: string } }
const enumeration = { enum: ['a-b', 'c'] }

/** Adds a body of a media type, and then says more of it. */
function ofBody(name: string, mediaType: string, more: Node): Addition<OperationPlace> {
  return {
    name: `${name} of a body`,
    isFit: ({ method }) => method === 'post',
    prepare({ node }) {
      const schema = { type: 'object', properties: { a: list, file: { type: 'string', format: 'binary' } } }
      node['requestBody'] = { content: { [mediaType]: { schema, encoding: { a: {} } } } }
    },
    put({ node }) {
      Object.assign(node['requestBody'].content[mediaType].encoding.a, more)
    },
  }
}

/** Adds a link to an operation that has a parameter, and then says what is given to it. */
function ofLink(name: string, link: Node): Addition<OperationPlace> {
  return {
    name: `${name} of a link`,
    isFit: ({ node }) => Object.keys(node['responses'] ?? {}).some((status) => status.startsWith('2')),
    prepare({ node }, document) {
      const status = Object.keys(node['responses']).find((one) => one.startsWith('2')) as string
      const target = { operationId: 'zzTarget', parameters: [{ name: 'to', in: 'query', schema: string }] }
      document['paths']['/zz-target'] = { get: { ...target, responses: { 200: { description: 'ok' } } } }
      node['responses'][status] = {
        description: 'ok',
        content: { 'application/json': { schema: object } },
        links: { zzLink: { operationId: 'zzTarget' } },
      }
    },
    put({ node }) {
      const answer = Object.values<Node>(node['responses']).find((one) => one['links']?.zzLink) as Node
      Object.assign(answer['links'].zzLink, link)
    },
  }
}

export const operationAdditions: readonly Addition<OperationPlace>[] = [
  ...[
    ['text', string, 'a'],
    ['an integer', { type: 'integer' }, 5],
    ['a number', { type: 'number' }, 0.5],
    ['a boolean', { type: 'boolean' }, false],
    ['an enum', enumeration, 'a-b'],
    ['a date', { type: 'string', format: 'date' }, '2026-01-31'],
    ['an email address', { type: 'string', format: 'email' }, 'a@example.com'],
    ['a list', list, ['a', 'b']],
    ['a list of enums', { type: 'array', items: enumeration }, ['a-b']],
    ['a list of lists', { type: 'array', items: list }, [['a']]],
    ['an empty list', list, []],
    ['an object', object, { a: 'b' }],
    ['a map', { type: 'object', additionalProperties: string }, { a: 'b' }],
    ['anything', {}, { a: 1 }],
    ['a number that is text', { type: 'integer' }, '5'],
    ['text that is a number', string, 5],
    ['a value that is no list', list, 'a'],
    ['what an enum has not', enumeration, 'd'],
    ['no date', { type: 'string', format: 'date' }, 'today'],
  ].map(([name, schema, value]) =>
    ofParameter(`a default of ${String(name)}`, schema as Node, { schema: { default: value } }),
  ),
  ofParameter('deepObject', object, { style: 'deepObject' }),
  ofParameter('explode', list, { explode: false }),
  ofParameter('spaceDelimited', list, { style: 'spaceDelimited', explode: false }),
  ofParameter('a style that it has not', list, { style: 'matrix' }),
  ofParameter('allowReserved', string, { allowReserved: true }),
  ofParameter('deprecated', string, { deprecated: true }),
  ofParameter('deprecated schema', string, { schema: { deprecated: true } }),
  ofParameter('required', string, { required: true }),
  ofParameter('required', string, { required: true }, 'cookie'),
  ofParameter('a default of a list', list, { schema: { default: ['a'] } }, 'header'),
  ofParameter('explode', list, { explode: false }, 'cookie'),
  ofParameter('description', string, { description: 'What it is.' }, 'header'),
  ofParameter('an unknown format', string, { schema: { format: 'zz-format' } }),
  ofParameter('content', object, { schema: undefined, content: { 'application/json': { schema: object } } }),
  ...['cookie', 'header', 'query', 'path', 'nowhere'].map((place): Addition<OperationPlace> => ({
    name: `a parameter in ${place}`,
    put: ({ node }) =>
      void (node['parameters'] = [
        ...(node['parameters'] ?? []),
        { name: 'zz-added', in: place, schema: string },
      ]),
  })),
  ofBody('contentType', 'multipart/form-data', { contentType: 'application/json' }),
  ofBody('headers', 'multipart/form-data', { headers: { 'X-Part': { schema: string } } }),
  ofBody('explode', 'application/x-www-form-urlencoded', { style: 'form', explode: false }),
  ofBody('allowReserved', 'application/x-www-form-urlencoded', { allowReserved: true }),
  ofBody('a style that it has not', 'application/x-www-form-urlencoded', { style: 'matrix' }),
  {
    name: 'a body of another media type with more members',
    isFit: ({ method }) => method === 'post',
    prepare: ({ node }) =>
      void (node['requestBody'] = { content: { 'application/json': { schema: object } } }),
    put({ node }) {
      const schema = { type: 'object', properties: { file: { type: 'string', format: 'binary' } } }
      node['requestBody'].content['multipart/form-data'] = { schema }
    },
  },
  {
    name: 'a default of a body',
    isFit: ({ method }) => method === 'post',
    prepare: ({ node }) =>
      void (node['requestBody'] = { content: { 'application/json': { schema: { ...object } } } }),
    put: ({ node }) => void (node['requestBody'].content['application/json'].schema.default = { a: 'b' }),
  },
  {
    name: 'a body of a GET',
    isFit: ({ method, node }) => method === 'get' && node['requestBody'] === undefined,
    put: ({ node }) => void (node['requestBody'] = { content: { 'application/json': { schema: object } } }),
  },
  {
    name: 'a callback',
    put: ({ node }) =>
      void (node['callbacks'] = { ...node['callbacks'], zzDone: { '{$request.body#/url}': { post: {} } } }),
  },
  {
    name: 'deprecated',
    isFit: ({ node }) => !node['deprecated'],
    put: ({ node }) => void (node['deprecated'] = true),
  },
  {
    name: 'a server',
    isFit: ({ node }) => node['servers'] === undefined,
    put: ({ node }) => void (node['servers'] = [{ url: 'https://zz.example.com/v9' }]),
  },
  {
    name: 'a webhook',
    put: (_, document) => void (document['webhooks'] = { ...document['webhooks'], zzPinged: { post: {} } }),
  },
  ...['head', 'options', 'trace', 'query'].map((method): Addition<OperationPlace> => ({
    name: `an operation of ${method}`,
    put: (_, document) => void (document['paths'][`/zz-${method}`] = { [method]: { responses: {} } }),
  })),
  {
    name: 'a response header',
    isFit: ({ node }) => Object.keys(node['responses'] ?? {}).some((status) => status.startsWith('2')),
    put({ node }) {
      const status = Object.keys(node['responses']).find((one) => one.startsWith('2')) as string
      const content = { 'application/json': { schema: object } }
      node['responses'][status] = { description: 'ok', content, headers: { 'X-Zz': { schema: string } } }
    },
  },
  ofLink('a constant', { parameters: { to: 'a' } }),
  ofLink('a description', { description: 'Where it leads.' }),
  ofLink('a server', { server: { url: 'https://zz.example.com' } }),
  ofLink('a parameter that is none', { parameters: { what: 'a' } }),
  ofLink('a body', { requestBody: { a: '$response.body#/a' } }),
  ...[
    '$url',
    '$method',
    '$statusCode',
    '$response.body#/a',
    '$response.header.X-A',
    '$request.header.x-nobody',
    '$request.path.nobody',
    '$request.query.nobody',
    '$request.body#/nobody',
    '$nothing',
    '/users/{$response.body#/a}/of/{$statusCode}',
    '{$request.query.nobody}/x',
    'US$ 5',
  ].map((expression) => ofLink(expression, { parameters: { to: expression } })),
]
