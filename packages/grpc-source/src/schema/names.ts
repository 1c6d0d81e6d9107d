import type { DescEnum, DescMessage } from '@bufbuild/protobuf'
import type { Finding } from '../errors.ts'

const SPECIFIED = ['Int', 'Float', 'String', 'Boolean', 'ID', 'Query', 'Mutation', 'Subscription']

/** Hands out GraphQL type names and notes when two things want the same one. */
export interface TypeNames {
  /** The short name of a message or enum: the names of its parents and its own, joined. */
  of(desc: DescMessage | DescEnum): string
  /** Takes `name` for `owner` (a description for people); a second owner is a finding. */
  claim(name: string, owner: string): string
}

export function createTypeNames(overrides: Readonly<Record<string, string>>, findings: Finding[]): TypeNames {
  const owners = new Map(SPECIFIED.map((name) => [name, 'GraphQL itself']))
  return {
    of: (desc) => overrides[desc.typeName] ?? toGraphQLName(nestedName(desc)),
    claim(name, owner) {
      const first = owners.get(name)
      if (first === undefined) owners.set(name, owner)
      else if (first !== owner) {
        findings.push({
          message: `the type name "${name}" is wanted by ${first} and by ${owner}; rename one with typeNames: { '<package.Message>': 'OtherName' }`,
        })
      }
      return name
    },
  }
}

function nestedName(desc: DescMessage | DescEnum): string {
  return desc.parent ? nestedName(desc.parent) + desc.name : desc.name
}

/** Makes any proto name a legal GraphQL name; two leading underscores are GraphQL's own. */
export function toGraphQLName(name: string): string {
  const legal = name.replace(/[^_0-9A-Za-z]/g, '_').replace(/^_{2,}/, '_')
  return /^[0-9]/.test(legal) || legal === '' ? `_${legal}` : legal
}

export function capitalize(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

export function uncapitalize(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1)
}

/** `USER_STATUS_` for `UserStatus`: the prefix that style guides give to an enum's values. */
export function enumPrefix(enumName: string): string {
  return `${enumName
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toUpperCase()}_`
}
