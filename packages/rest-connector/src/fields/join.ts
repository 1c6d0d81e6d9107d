import {
  type BatchedJoin,
  createBatchedJoin,
  createSingleJoin,
  groupByKey,
  offerField,
  parentField,
  type ReadParent,
} from '@vinyasa/source-kit'
import type { GraphQLFieldResolver } from 'graphql'
import type { Call } from '../call/call.ts'
import type { DeclaredField } from '../declare/declared-field.ts'
import type { CompiledEndpoint } from '../declare/endpoint.ts'
import type { JoinBatch, JoinOptions } from '../declare/endpoint-options.ts'
import { atPlace, RestConfigError } from '../errors.ts'
import { parseTypeReference } from '../declare/fields.ts'
import { compileMember, refuseLevel } from '../declare/member-path.ts'
import { argumentsText } from '../json.ts'
import { type LoadItems, marks, type PlannableJoin } from '../json/planned-field.ts'
import { restFastPath } from './rest-fast-path.ts'
import { checkedAnswer } from '../call/checked-answer.ts'
import { isEvent, scopeOf } from './resolvers.ts'
import { endingsOf } from '../http/ending.ts'
import { parseTemplate, toText, variablesOf, type TemplatePart } from '../templates/template.ts'

/** The field that a join adds to its parent type. */
export function joinField(
  endpoint: CompiledEndpoint,
  call: Call,
  join: JoinOptions,
  isPlannable: boolean,
): DeclaredField {
  const { type: parent, field: name, args, batch, description = endpoint.declared.description } = join
  if (endpoint.isMutation)
    throw new RestConfigError(
      `the join ${parent}.${name} cannot call a mutation; set asQuery if the endpoint does not change data`,
    )
  const templates = Object.entries(args).map(([arg, template]) => [arg, parseTemplate(template)] as const)
  const bound = Object.keys(args)
  const keyTemplate = templates[0]
  for (const arg of bound)
    if (!endpoint.args.has(arg))
      throw new RestConfigError(
        `the join ${parent}.${name} sets the argument "${arg}", which the endpoint does not have; ` +
          `expected ${[...endpoint.args.keys()].join(', ') || 'no arguments'}`,
        { path: ['args', arg] },
      )
  if (batch && templates.length !== 1)
    throw new RestConfigError(
      `the batched join ${parent}.${name} must have exactly one entry in args, the list of keys`,
      { path: ['args'] },
    )

  const free = [...endpoint.args].filter(([arg]) => !bound.includes(arg))
  const common = { parent, name, description, args: new Map(free), isJoin: true }
  const requires = [...new Set(templates.flatMap(([, parts]) => variablesOf(parts)))]
  if (!batch || !keyTemplate)
    return {
      ...common,
      type: endpoint.returnType,
      requires,
      resolve: createSingleJoin(
        new Map(templates.map(([arg, parts]) => [arg, filledFromParent(parts)])),
        async (args, context, info) => checkedAnswer(endpoint, await call(args, scopeOf(context, info))),
      ),
    }
  const { isList, text, name: item } = endpoint.returnType
  if (!isList)
    throw new RestConfigError(`the batched join ${parent}.${name} needs an endpoint that returns a list`, {
      path: ['batch'],
    })
  atPlace(['batch', 'key'], () => refuseLevel(batch.key, 'a key'), `join ${parent}.${name}`)
  return {
    ...common,
    type: parseTypeReference(batch.many ? text.replace(/!$/, '') : item),
    requires,
    resolve: batchedResolver(endpoint, call, keyTemplate, batch, isPlannable),
  }
}

function batchedResolver(
  endpoint: CompiledEndpoint,
  call: Call,
  [arg, parts]: readonly [string, readonly TemplatePart[]],
  batch: JoinBatch,
  isPlannable: boolean,
): GraphQLFieldResolver<unknown, unknown> {
  const { many = false, maxBatchSize = endpoint.method === 'GET' ? 100 : Number.POSITIVE_INFINITY } = batch
  const { read } = compileMember(batch.key)
  const loadItems: LoadItems = async (keys, args, scope) =>
    groupByKey(checkedAnswer(endpoint, await call({ ...args, [arg]: keys }, scope)), read)
  const batched: BatchedJoin = {
    readKey: filledFromParent(parts),
    many,
    maxBatchSize,
    argumentsText,
    load(keys, args, context, info) {
      // A batch is not one deferred fragment's to cancel, only the client's who leaves.
      const endings = endingsOf(context, undefined, isEvent(info))
      return loadItems(keys, args, { ...scopeOf(context, info), endings })
    },
  }
  const [part] = parts
  if (!isPlannable || parts.length !== 1 || typeof part !== 'object') return createBatchedJoin(batched)
  const planned: PlannableJoin = { kind: 'join', ...batched, arg, parentField: part.variable, loadItems }
  const resolve = createBatchedJoin(planned)
  offerField(marks.mark(resolve, planned), restFastPath)
  return resolve
}

/** A template filled from the parent; null as soon as one of its fields is. */
function filledFromParent(parts: readonly TemplatePart[]): ReadParent {
  const reads = parts.map((part) =>
    typeof part === 'string' ? part : { name: part.variable, read: parentField(part.variable) },
  )
  const [only] = reads
  if (reads.length === 1 && typeof only === 'object') return only.read
  return async (parent, context, info) => {
    let text = ''
    for (const part of reads) {
      if (typeof part === 'string') {
        text += part
        continue
      }
      const value = await part.read(parent, context, info)
      if (value === null || value === undefined) return null
      text += toText(value, part.name)
    }
    return text
  }
}
