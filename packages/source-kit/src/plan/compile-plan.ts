import type { FieldNode, GraphQLObjectType } from 'graphql'
import type { SelectionScope } from './selection-scope.ts'
import type { FastPath, Prepared, Selection } from './fast-path.ts'
import { constantText, type ConstantText } from '../answer/json-result.ts'
import { NotPlannable } from './refusals.ts'
import { fastPaths } from './registry.ts'

/** The calls for the root fields of an operation, and how the answer is put together of what they bring. */
export interface Plan {
  /** One for each kind of source, with the places of its fields in the answer. */
  readonly sources: readonly { readonly prepared: Prepared; readonly places: readonly number[] }[]
  /** The answer around the fields: one more than there are fields; nothing where a source writes all of it. */
  readonly between: readonly ConstantText[]
  /** One root field and no joins. */
  readonly isOneCall: boolean
}

/** @throws NotPlannable */
export function compilePlan(
  scope: SelectionScope,
  root: GraphQLObjectType,
  selected: ReadonlyMap<string, readonly FieldNode[]>,
): Plan {
  const groups = new Map<FastPath, { readonly selections: Selection[]; readonly places: number[] }>()
  const between = ['{"data":{']
  let comma = ''
  let place = 0
  for (const [key, nodes] of selected) {
    between[place] += `${comma}${JSON.stringify(key)}:`
    comma = ','
    const name = nodes[0]?.name.value as string
    if (name === '__typename') {
      between[place] += JSON.stringify(root.name)
      continue
    }
    const field = root.getFields()[name]
    if (!field) throw new NotPlannable(`${root.name} has no field ${name}`)
    const path = fastPaths.of(field)
    if (!path) throw new NotPlannable(`the resolver of ${root.name}.${name} does not support plans`)
    const group = groups.get(path) ?? { selections: [], places: [] }
    groups.set(path, group)
    group.selections.push({ key, field, nodes })
    group.places.push(place++)
    between.push('')
  }
  between[place] += '}}'
  const sources = [...groups].map(([path, { selections, places }]) => ({
    prepared: path.prepareRoots(selections, scope),
    places,
  }))
  const [before = '', after = ''] = between
  const only = place === 1 ? sources[0]?.prepared : undefined
  const isOneCall = only?.isOneCall === true
  const whole = only?.whole?.(before, after)
  return whole
    ? { sources: [{ prepared: whole, places: [0] }], between: [], isOneCall }
    : { sources, between: between.map(constantText), isOneCall }
}
