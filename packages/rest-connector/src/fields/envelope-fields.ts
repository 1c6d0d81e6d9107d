import type { GraphQLFieldResolver } from 'graphql'
import type { Call, Callable } from '../call/call.ts'
import { checkedAnswer } from '../call/checked-answer.ts'
import type { DeclaredField } from '../declare/declared-field.ts'
import type { CompiledEndpoint } from '../declare/endpoint.ts'
import { argsOf, nextOf, type CompiledLink } from '../declare/envelope.ts'
import { atPlace, restError, RestConfigError } from '../errors.ts'
import type { Home } from '../http/transport.ts'
import type { Args } from '../templates/template.ts'
import { parseBaseUrl } from '../declare/base-url.ts'
import { scopeOf } from './resolvers.ts'

/** The fields of an envelope that ask the upstream once more. */
export function envelopeFields(
  endpoint: CompiledEndpoint,
  call: Call,
  home: Home,
  callable: ReadonlyMap<string, Callable>,
): readonly DeclaredField[] {
  const { envelope, declared } = endpoint
  if (!envelope) return []
  const parent = envelope.type.name
  const fields: DeclaredField[] = []
  if (envelope.hasNext)
    fields.push({
      parent,
      name: 'next',
      type: { ...envelope.type, text: parent, isNonNull: false },
      description: 'The next page, if the response refers to one.',
      args: new Map(),
      requires: [],
      resolve: nextResolver(call, declared.baseUrl === undefined ? home : parseBaseUrl(declared.baseUrl)),
    })
  for (const [name, link] of envelope.links) {
    const target = callable.get(link.endpoint)
    const compile = (): DeclaredField => {
      if (!target) throw new RestConfigError(`unknown endpoint "${link.endpoint}"`)
      return linkField(parent, name, link, target)
    }
    fields.push(atPlace(['envelope', 'links', name], compile, `envelope.links.${name}`))
  }
  return fields
}

function nextResolver(call: Call, home: Home): GraphQLFieldResolver<unknown, unknown> {
  return async (source, _args, context, info) => {
    const envelope = source as object
    let path: string | undefined
    try {
      path = nextOf(envelope, home)
    } catch (cause) {
      throw restError(
        'REST_BAD_RESPONSE',
        'The upstream sent a next-page URL that is too long, invalid or outside the base URL.',
        {
          cause,
        },
      )
    }
    if (path === undefined) return null
    return call(argsOf(envelope), { ...scopeOf(context, info), isEnveloped: true, path })
  }
}

function linkField(
  parent: string,
  name: string,
  link: CompiledLink,
  { endpoint, call }: Callable,
): DeclaredField {
  if (endpoint.isMutation)
    throw new RestConfigError(
      `the endpoint "${endpoint.name}" is a mutation, which a link cannot call; set asQuery if it does not change data`,
    )
  for (const arg of link.args.keys())
    if (!endpoint.args.has(arg))
      throw new RestConfigError(
        `the endpoint "${endpoint.name}" has no argument "${arg}"; ` +
          `expected ${[...endpoint.args.keys()].join(', ') || 'no arguments'}`,
        { path: ['args', arg] },
      )
  const { description = endpoint.declared.description } = link
  const type = endpoint.envelope?.type ?? endpoint.returnType
  return {
    parent,
    name,
    description,
    type: { ...type, text: type.text.replace(/!$/, ''), isNonNull: false },
    args: new Map([...endpoint.args].filter(([arg]) => !link.args.has(arg))),
    requires: [],
    async resolve(source, given: Args, context, info) {
      const args: Record<string, unknown> = { ...given }
      for (const [arg, read] of link.args) {
        const value = read(source as object) ?? null
        if (value !== null) args[arg] = value
        else if (endpoint.args.get(arg)?.isNonNull) return null
      }
      const answer = await call(args, { ...scopeOf(context, info), isEnveloped: true })
      return endpoint.envelope ? answer : checkedAnswer(endpoint, answer)
    },
  }
}
