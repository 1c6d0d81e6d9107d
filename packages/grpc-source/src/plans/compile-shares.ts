import type { FieldNode, GraphQLObjectType, OperationDefinitionNode } from 'graphql'
import type { SelectionScope } from './collect-fields.ts'
import { jsonText } from './planned-result.ts'
import { shareOf, type JsonText, type PlanShare, type SelectedField, type Share } from './share.ts'
import { Unplannable } from './unplannable.ts'

/** The root fields of an operation by the kinds of sources that they come from. */
export interface SharedPlan {
  /** Each with the places of its fields in the answer. */
  readonly shares: readonly { readonly share: Share; readonly places: readonly number[] }[]
  /** The answer around the fields: one more than there are fields; nothing where a share is the whole answer. */
  readonly between: readonly JsonText[]
}

/** A plan with fields that offer `own`, or with none at all. @throws Unplannable */
export function compileShares(
  scope: SelectionScope,
  operation: OperationDefinitionNode,
  root: GraphQLObjectType,
  selected: ReadonlyMap<string, readonly FieldNode[]>,
  own: PlanShare,
): SharedPlan {
  const groups = new Map<PlanShare, { readonly fields: SelectedField[]; readonly places: number[] }>()
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
    if (!field) throw new Unplannable(`${root.name} has no field ${name}`)
    const plan = shareOf(field)
    if (!plan) throw new Unplannable(`${root.name}.${name} has another resolver`)
    const group = groups.get(plan) ?? { fields: [], places: [] }
    groups.set(plan, group)
    group.fields.push({ key, field, nodes })
    group.places.push(place++)
    between.push('')
  }
  between[place] += '}}'
  const [first] = groups.values()
  if (first && !groups.has(own))
    throw new Unplannable(`${root.name}.${first.fields[0]?.field.name} has another resolver`)
  const shares = [...groups].map(([plan, { fields, places }]) => ({
    share: plan(scope, operation, fields),
    places,
  }))
  const [before = '', after = ''] = between
  const whole = place === 1 ? shares[0]?.share.whole?.(before, after) : undefined
  return whole
    ? { shares: [{ share: whole, places: [0] }], between: [] }
    : { shares, between: between.map(jsonText) }
}
