import type { RestEndpoint } from '../../declare/endpoint-options.ts'
import type { LinkPart, LinkValue } from '../../declare/envelope-options.ts'
import type { TypeDefinitions } from '../../declare/type-definitions.ts'
import { splitOnce, unescapeStep } from '../openapi-document.ts'

/** "Runtime Expressions" (OpenAPI 3.1, section 4.8.20.4). */
const EXPRESSION = /\$(?:url|method|statusCode|request\.|response\.)/

/** Whether a text has an expression in it, or is one. */
export function isExpression(text: string): boolean {
  return EXPRESSION.test(text)
}

/**
 * A constant, an expression, or a text with expressions in braces; undefined: one that no field can be asked with.
 */
export function valueOf(
  given: unknown,
  endpoint: RestEndpoint,
  definitions: TypeDefinitions,
): LinkValue | undefined {
  if (typeof given !== 'string') return { value: given }
  if (given.startsWith('$')) return expressionOf(given, endpoint, definitions)
  // Text and expressions by turns.
  const parts = given.split(/\{(\$[^{}]*)\}/)
  if (parts.length === 1) return { value: given }
  const values = parts.map((part, index) =>
    index % 2 === 0 ? part : expressionOf(part, endpoint, definitions),
  )
  const known = values.filter((value) => value !== undefined && value !== '') as (string | LinkPart)[]
  if (values.includes(undefined)) return undefined
  const [only] = known
  if (known.length === 1 && typeof only === 'object') return only
  return known.every((one) => typeof one === 'string' || 'value' in one)
    ? { value: known.map((one) => (typeof one === 'string' ? one : String(Object(one).value))).join('') }
    : { text: known }
}

function expressionOf(
  expression: string,
  endpoint: RestEndpoint,
  definitions: TypeDefinitions,
): LinkPart | undefined {
  if (expression === '$method') return { value: endpoint.method ?? 'GET' }
  if (expression === '$url') return { exchange: 'url' }
  if (expression === '$statusCode') return { exchange: 'status' }
  const [source, pointer] = splitOnce(expression, '#')
  const [, from = '', place = '', name = ''] = /^\$(request|response)\.(\w+)(?:\.(.+))?$/.exec(source) ?? []
  const steps = pointer.split('/').slice(1).map(unescapeStep)
  if (from === 'response') {
    if (place === 'body') return { body: `$${steps.map(pathStep).join('')}` }
    return place === 'header' && name !== '' ? { header: name } : undefined
  }
  if (from !== 'request') return undefined
  if (place === 'body') return memberOfBody(steps, endpoint, definitions)
  const fixed = place === 'query' ? endpoint.queryParams?.[name] : undefined
  if (fixed !== undefined) return { value: fixed }
  const arg = argumentOf(endpoint, `${place}.${name}`)
  return arg === undefined ? undefined : { arg }
}

/** The argument that a parameter is, named alone or behind its place. */
export function argumentOf(
  { parameters = [], args = {}, path }: RestEndpoint,
  name: string,
): string | undefined {
  const [place, rest] = splitOnce(name, '.')
  const found =
    parameters.find((one) => one.name === name) ??
    parameters.find(
      (one) =>
        one.in === place &&
        (one.name === rest || (place === 'header' && one.name.toLowerCase() === rest.toLowerCase())),
    )
  if (found) return found.arg ?? found.name
  if (Object.hasOwn(args, name)) return name
  // A variable of the path that no parameter describes is an argument of its name.
  return [name, place === 'path' ? rest : name].find((one) => path.includes(`{${one}}`))
}

/** The member of the argument that a body is; the pointer has the API's names. */
function memberOfBody(
  steps: readonly string[],
  { body, args = {} }: RestEndpoint,
  definitions: TypeDefinitions,
): LinkPart | undefined {
  if (!body) return undefined
  const { arg = 'input' } = body
  const given = args[arg]
  let type = typeof given === 'string' ? given : given?.type
  let path = '$'
  for (const step of steps) {
    if (type === undefined) return undefined
    const bare = type.replace(/!$/, '')
    const definition = Object.hasOwn(definitions, bare) ? definitions[bare] : undefined
    if (bare === 'JSON') path += pathStep(step)
    else if (bare.startsWith('[') && /^\d+$/.test(step)) {
      type = bare.slice(1, -1)
      path += `[${step}]`
    } else if (definition?.kind === 'input' && !definition.isOneOf) {
      const found = Object.entries(definition.fields).find(
        ([name, { key = name, besides }]) => key === step && !besides,
      )
      if (!found) return undefined
      type = found[1].type
      path += pathStep(found[0])
    } else return undefined
  }
  return steps.length === 0 ? { arg } : { arg, path }
}

/** A step of a JSON pointer in the words of `responsePath`. */
function pathStep(step: string): string {
  if (/^\d+$/.test(step)) return `[${step}]`
  return `['${step.replaceAll(/['\\]/g, String.raw`\$&`)}']`
}
