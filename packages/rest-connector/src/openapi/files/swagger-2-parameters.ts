import { asText, type Node } from '../openapi-document.ts'

export interface OperationInput {
  readonly method: string
  /** Parameters of the path and of the operation, their references resolved. */
  readonly ofPath: readonly Node[]
  readonly own: readonly Node[]
  /** Media types of the body. */
  readonly consumes: readonly string[]
}

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

/** The parameters and the body of an operation, as OpenAPI 3.0 writes them. */
export function inputOf({ method, ofPath, own, consumes }: OperationInput): Node {
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
