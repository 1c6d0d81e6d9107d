import {
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  Kind,
  print,
  type TypeDefinitionNode,
} from 'graphql'
import { bareType } from '../against/coordinates-of.ts'
import { filled } from './migration.ts'
import { directiveOf, type OldDocument } from './old-document.ts'

/** How a field of an answer is found in it. */
export interface Place {
  /** Where clients find it. Default: its own name. */
  readonly name?: string
  /** The JSON member, or a path to it. Default: the name in the SDL. */
  readonly key?: string | undefined
}

export interface TypeWords {
  /** Where a field is in JSON; undefined: it is not, as another call gives it, or nothing does. */
  placeOf(type: string, field: FieldDefinitionNode): Place | undefined
  /** More fields of a type, which stand in no definition. */
  more(type: string): Readonly<Record<string, object>>
  /** The name that a field of an input has on the wire. Default: its own. */
  keyOf?(type: string, field: string): string | undefined
}

const BUILT_IN: ReadonlySet<string> = new Set([
  'Boolean',
  'Float',
  'ID',
  'Int',
  'String',
  'JSON',
  'Long',
  'Upload',
])

/** The types that others lead to, as `rest.*.types` has them; those that are taken are left to who has them. */
export function typesFrom(
  start: Iterable<string>,
  document: OldDocument,
  words: TypeWords,
  taken: ReadonlySet<string>,
): Record<string, object> {
  const found: Record<string, object> = {}
  const waiting = [...start]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (BUILT_IN.has(name) || taken.has(name) || Object.hasOwn(found, name)) continue
    const node = document.types.get(name)
    const [definition, used] = node ? defined(node, document, words) : [{ kind: 'scalar' }, []]
    found[name] = definition
    waiting.push(...used)
  }
  return found
}

function defined(
  node: TypeDefinitionNode,
  document: OldDocument,
  words: TypeWords,
): readonly [definition: object, used: readonly string[]] {
  const description = node.description?.value
  switch (node.kind) {
    case Kind.ENUM_TYPE_DEFINITION: {
      for (const value of node.values ?? [])
        if (directiveOf(value, 'alias'))
          document.note(
            value.loc?.startToken.line,
            `${node.name.value}.${value.name.value}: @alias is not converted; set the value that the API uses in types.${node.name.value}.values.${value.name.value}.value`,
          )
      const values = (node.values ?? []).map(
        (value) => [value.name.value, filled({ value: value.name.value, ...about(value) })] as const,
      )
      return [filled({ kind: 'enum', description, values: Object.fromEntries(values) }), []]
    }
    case Kind.SCALAR_TYPE_DEFINITION:
      return [filled({ kind: 'scalar', description }), []]
    case Kind.INPUT_OBJECT_TYPE_DEFINITION: {
      const fields = (node.fields ?? []).map((field) => {
        const name = field.name.value
        const key = words.keyOf?.(node.name.value, name) ?? name
        if (field.defaultValue)
          document.note(
            field.loc?.startToken.line,
            `${node.name.value}.${name}: default values of input fields are not supported; clients that rely on the default must send the value`,
          )
        return [name, { ...memberOf(field), ...(key !== name && { key }) }] as const
      })
      const isOneOf = directiveOf(node, 'oneOf') ? true : undefined
      return [
        filled({ kind: 'input', description, isOneOf, fields: Object.fromEntries(fields) }),
        (node.fields ?? []).map(({ type }) => bareType(print(type))),
      ]
    }
    case Kind.UNION_TYPE_DEFINITION: {
      const members = (node.types ?? []).map(({ name }) => name.value)
      return [
        { kind: 'union', ...tellers(node, members, document, words), ...filled({ description }) },
        members,
      ]
    }
    case Kind.INTERFACE_TYPE_DEFINITION: {
      const members = [...document.types.values()].flatMap((type) =>
        type.kind === Kind.OBJECT_TYPE_DEFINITION &&
        type.interfaces?.some(({ name }) => name.value === node.name.value)
          ? [type.name.value]
          : [],
      )
      const [fields, used] = fieldsOf(node.name.value, document, words)
      const told = tellers(node, members, document, words)
      return [{ kind: 'interface', fields, ...told, ...filled({ description }) }, [...used, ...members]]
    }
    case Kind.OBJECT_TYPE_DEFINITION: {
      const [fields, used] = fieldsOf(node.name.value, document, words)
      const interfaces = (node.interfaces ?? []).map(({ name }) => name.value)
      return [{ ...filled({ kind: 'object', description, interfaces }), fields }, [...used, ...interfaces]]
    }
  }
}

function fieldsOf(
  type: string,
  document: OldDocument,
  words: TypeWords,
): readonly [fields: Record<string, object>, used: readonly string[]] {
  const fields: Record<string, object> = {}
  const used: string[] = []
  for (const field of document.fieldsOf(type)) {
    const place = words.placeOf(type, field)
    if (!place) continue
    const own = field.name.value
    const { name = own, key = own } = place
    fields[name] = { ...memberOf(field), ...(key !== name && { key }) }
    used.push(bareType(print(field.type)))
  }
  for (const [name, member] of Object.entries(words.more(type))) {
    fields[name] = member
    used.push(bareType(String((member as { readonly type: string }).type)))
  }
  return [fields, used]
}

function memberOf(field: FieldDefinitionNode | InputValueDefinitionNode): object {
  return { type: print(field.type), ...about(field) }
}

function about(
  node: Parameters<typeof directiveOf>[0] & { readonly description?: { readonly value: string } | undefined },
) {
  const deprecated = directiveOf(node, 'deprecated')
  return filled({
    description: node.description?.value,
    deprecated: deprecated && (deprecated.args['reason'] ?? 'No longer supported'),
  })
}

/** Tells members apart by the field that `@discriminate` names, else by the members that an object must have. */
function tellers(
  node: TypeDefinitionNode,
  members: readonly string[],
  document: OldDocument,
  words: TypeWords,
): object {
  const said = directiveOf(node, 'discriminate')
  const signs = (type: string): object => {
    const required = document
      .fieldsOf(type)
      .filter((field) => field.type.kind === Kind.NON_NULL_TYPE && words.placeOf(type, field))
      .map((field) => words.placeOf(type, field)?.key ?? field.name.value)
    return required.length > 0 && !said ? { required } : {}
  }
  return {
    members: Object.fromEntries(members.map((name) => [name, signs(name)])),
    ...(said && {
      discriminator: {
        key: said.args['field'] ?? 'type',
        types: Object.fromEntries(members.map((name) => [name, name])),
      },
    }),
  }
}
