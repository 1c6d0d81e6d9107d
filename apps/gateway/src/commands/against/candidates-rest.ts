import { isObjectType } from 'graphql'
import type { GatewayConfig } from '../../config/types.ts'
import { type Candidate, fieldNamesOf, movedFrom, type View } from './view.ts'
import type { Finding } from './compare-schemas.ts'
import { bareType } from './coordinates-of.ts'
import { elementOf } from '../../sources/elements.ts'
import { ownCoordinate, type Setting } from './settings.ts'

type RestConfig = NonNullable<GatewayConfig['rest']>[string]

/** What options of REST sources may make a finding go away. */
export function ofRest(finding: Finding, view: View): readonly Candidate[] {
  if (Object.keys(view.config.rest ?? {}).length === 0) return []
  return [...ofOperation(finding, view), ...ofRoot(finding, view), ...ofTypes(finding, view)]
}

/** On which operation an endpoint's field is. */
function ofOperation(finding: Finding, view: View): readonly Candidate[] {
  const moved = movedFrom(finding, view)
  if (moved?.operation !== 'Query' || moved.now[0] !== 'Mutation') return []
  const [type, name] = moved.now
  const found = endpointOf(view, type, name)
  if (!found) return []
  const { source, index, operation } = found
  const renamed: Setting[] =
    name === moved.name ? [] : [{ path: ['rest', source, 'rename', `Query.${name}`], value: moved.name }]
  if (index >= 0)
    return [[{ path: ['rest', source, 'endpoints', index, 'asQuery'], value: true }, ...renamed]]
  return [[{ path: ['rest', source, 'openapi', 'asQuery'], value: [operation] }, ...renamed]]
}

/** What an endpoint of the config's own says of its field. */
function ofRoot(finding: Finding, view: View): readonly Candidate[] {
  const { rule, path, was } = finding
  const [parent = '', name = '', argument] = path.split('.')
  const found = endpointOf(view, parent, name)
  if (!found) return []
  const { source, index, endpoint } = found
  const envelopes = ['headers', 'links', 'nextPage'].map((option): Candidate => [
    { path: ['rest', source, 'openapi', option], value: true },
  ])
  if (!endpoint)
    return rule === 'FIELD_TYPE_CHANGED' && was && fieldNamesOf(view.before, bareType(was)).includes('body')
      ? envelopes
      : []
  const at = (...inside: readonly string[]): readonly (string | number)[] => [
    'rest',
    source,
    'endpoints',
    index,
    ...inside,
  ]
  if (argument !== undefined) return ofArgument(finding, { argument, endpoint, at })
  if (rule !== 'FIELD_TYPE_CHANGED') return []
  const type = withMarks(endpoint.returnType ?? endpoint.responseSchema?.typeName, finding)
  return type === undefined ? [] : [[{ path: at('returnType'), value: type }]]
}

interface Argument {
  readonly argument: string
  readonly endpoint: NonNullable<RestConfig['endpoints']>[number]
  readonly at: (...inside: readonly string[]) => readonly (string | number)[]
}

function ofArgument(finding: Finding, { argument, endpoint, at }: Argument): readonly Candidate[] {
  const given = endpoint.args?.[argument]
  if (given === undefined) return []
  const text = typeof given === 'string' ? given : given.type
  const [type = '', value] = text.split(/\s*=\s*/)
  const place = typeof given === 'string' ? at('args', argument) : at('args', argument, 'type')
  if (finding.rule === 'FIELD_ARGUMENT_DEFAULT_CHANGED') {
    const old = finding.was === undefined || finding.was === 'undefined' ? '' : ` = ${finding.was}`
    return [[{ path: place, value: `${type}${old}` }]]
  }
  const typed = withMarks(type, finding)
  return typed === undefined
    ? []
    : [[{ path: place, value: value === undefined ? typed : `${typed} = ${value}` }]]
}

/** What the config says of a type of its own. */
function ofTypes(finding: Finding, { config, after }: View): readonly Candidate[] {
  const [parent = '', name = ''] = finding.path.split('.')
  if (!/^(FIELD|INPUT_FIELD)_TYPE_CHANGED$/.test(finding.rule) || !after.getType(parent)) return []
  return Object.entries(config.rest ?? {}).flatMap(([source, options]): Candidate[] => {
    const [type = '', field = ''] = ownCoordinate(`${parent}.${name}`, options).split('.')
    const defined = options.types?.[type]
    const member = defined && 'fields' in defined ? defined.fields[field] : undefined
    const places: [readonly (string | number)[], string][] = []
    if (member) places.push([['rest', source, 'types', type, 'fields', field, 'type'], member.type])
    for (const [index, { responseSchema }] of (options.endpoints ?? []).entries()) {
      const given = responseSchema?.typeName === type ? responseSchema.fields[field] : undefined
      const path = ['rest', source, 'endpoints', index, 'responseSchema', 'fields', field]
      if (typeof given === 'string') places.push([path, given])
      else if (given) places.push([[...path, 'type'], given.type])
    }
    const settings = places.flatMap(([path, text]): Setting[] => {
      const value = withMarks(text, finding)
      return value === undefined ? [] : [{ path, value }]
    })
    return settings.length === 0 ? [] : [settings]
  })
}

const KINDS: ReadonlySet<string> = new Set(['Int', 'Float', 'String', 'Boolean', 'ID'])

/** The type that was, as the config writes types: its own name where that has only other marks, else a scalar of GraphQL's. */
function withMarks(written: string | undefined, { was, is }: Finding): string | undefined {
  if (written === undefined || was === undefined || is === undefined) return undefined
  const old = bareType(was)
  if (old === bareType(is)) return was.replace(old, bareType(written))
  return KINDS.has(old) ? was : undefined
}

function endpointOf({ after, config }: View, parent: string, name: string) {
  const type = after.getType(parent)
  const element = elementOf(isObjectType(type) ? type.getFields()[name] : undefined)
  if (element?.section !== 'rest') return undefined
  const { source, operation } = element
  const endpoints = config.rest?.[source]?.endpoints ?? []
  const index = endpoints.findIndex((one) => one.name === element.endpoint)
  return { source, operation, index, endpoint: endpoints[index] }
}
