import {
  type DocumentNode,
  type FieldDefinitionNode,
  Kind,
  print,
  type InputValueDefinitionNode,
} from 'graphql'
import { bareType } from '../../against/coordinates-of.ts'
import { schemaForClients } from '../../against/read-old-schema.ts'
import { type ConnectRequest, readRequest, readSources, type SourceSettings } from './request.ts'
import { filled, type Migration, Unsaid } from '../migration.ts'
import { directiveOf, directivesOf, OldDocument, type OldDirective } from '../old-document.ts'
import { RestDrafts, type JoinedField, type Taken } from '../rest-draft.ts'
import type { TypeWords, Place } from '../sdl-types.ts'
import { keyAt, parseSelection, pathAt, type Selected } from './selection.ts'

/** A field of Query that gives an object by its key. */
interface Entity {
  readonly field: FieldDefinitionNode
  readonly taken: Taken
}

/** A field whose object is known by its key alone, which a request of its own then gives. */
interface Reference {
  readonly type: string
  readonly field: string
  readonly target: string
  /** Where the values of the key are, by its fields. */
  readonly keys: ReadonlyMap<string, string>
}

const NO_EQUIVALENT = 'has no equivalent; write a resolver in a TypeScript config'

/** Where the selections of connectors find the fields of types. */
class Mapping {
  /** By the type that they give. */
  readonly entities: Map<string, Entity> = new Map()
  readonly #old: OldDocument
  readonly #keys = new Map<string, string>()
  /** Fields that no selection can give here. */
  readonly #unsaid = new Set<string>()
  readonly #references = new Map<string, Reference>()

  constructor(old: OldDocument) {
    this.#old = old
  }

  /** Reads the selection of a connector that gives a type; gives where in the answer it begins. Throws {@link Unsaid}. */
  read(type: string, text: string, line: number | undefined): string | undefined {
    const selected = parseSelection(text)
    const [only, ...more] = selected
    const isPath = only && only.variable === '' && only.name === undefined && more.length === 0
    if (only?.unsaid !== undefined && isPath) throw new Unsaid(`selection: "${only.unsaid}" ${NO_EQUIVALENT}`)
    if (isPath) {
      this.#readFields(type, only.fields ?? [], [], line)
      return (only.path ?? []).length === 0 ? undefined : pathAt(only.path ?? [])
    }
    this.#readFields(type, selected, [], line)
    return undefined
  }

  /** Reads what a body takes of an input: the names on the wire by its fields. */
  readInput(type: string, keys: ReadonlyMap<string, string>, line: number | undefined): void {
    for (const { name } of this.#old.fieldsOf(type)) {
      const coordinate = `${type}.${name.value}`
      const [key, known] = [keys.get(name.value), this.#keys.get(coordinate)]
      if (key === undefined)
        this.#old.note(
          line,
          `${coordinate}: the old gateway did not send this field to the API; this gateway does`,
        )
      else if (known !== undefined && known !== key)
        this.#old.note(
          line,
          `${coordinate}: another connector sends this field as ${known}, and this connector sends it as ${key}; the gateway uses ${known}`,
        )
      else this.#keys.set(coordinate, key)
    }
  }

  /** The name that a field of an input has on the wire. */
  keyOf(type: string, field: string): string | undefined {
    return this.#keys.get(`${type}.${field}`)
  }

  placeOf(type: string, field: FieldDefinitionNode): Place | undefined {
    const coordinate = `${type}.${field.name.value}`
    if (this.#unsaid.has(coordinate) || this.#references.has(coordinate)) return undefined
    return { key: this.#keys.get(coordinate) }
  }

  /** Fields that joins are keyed by, which clients do not see. */
  more(type: string): Record<string, { type: string; key: string }> {
    const found: Record<string, { type: string; key: string }> = {}
    for (const { type: owner, field, target, keys } of this.#references.values()) {
      if (owner !== type) continue
      for (const argument of this.#argumentsOf(target)) {
        const key = keys.get(argument.name.value) ?? ''
        found[`${field}Key_${argument.name.value}`] = { type: print(argument.type).replace(/!$/, ''), key }
      }
    }
    return found
  }

  /** What the request for an entity fills: the fields that know its key. */
  joinsOf(target: string): readonly JoinedField[] {
    return [...this.#references.values()]
      .filter((one) => one.target === target)
      .map(({ type, field }) => {
        const args = this.#argumentsOf(target).map(
          ({ name }) => [name.value, `{${field}Key_${name.value}}`] as const,
        )
        return { type, field, args: Object.fromEntries(args) }
      })
  }

  #argumentsOf(target: string): readonly InputValueDefinitionNode[] {
    const { field, taken } = this.entities.get(target) ?? {}
    return (field?.arguments ?? []).filter(({ name }) => taken?.args.has(name.value))
  }

  #readFields(
    type: string,
    selected: readonly Selected[],
    above: readonly string[],
    line: number | undefined,
  ): void {
    for (const one of selected) {
      const { name, path, variable, fields, unsaid } = one
      if (variable !== undefined && variable !== '') {
        this.#leaveOut(type, name ?? '', `selection: "$${variable}" ${NO_EQUIVALENT}`, line)
        continue
      }
      if (name === undefined) {
        this.#readFields(type, fields ?? [], [...above, ...(path ?? [])], line)
        continue
      }
      const field = this.#old.fieldsOf(type).find((other) => other.name.value === name)
      if (!field) continue
      if (unsaid !== undefined) this.#leaveOut(type, name, `selection: "${unsaid}" ${NO_EQUIVALENT}`, line)
      else this.#readField(type, field, one, above, line)
    }
  }

  #readField(
    type: string,
    field: FieldDefinitionNode,
    { path, fields }: Selected,
    above: readonly string[],
    line: number | undefined,
  ): void {
    const name = field.name.value
    const target = bareType(print(field.type))
    // Without a path it is made of what stands beside it.
    const place = [...above, ...(path ?? [])]
    const missing = fields
      ? this.#plainFields(target).filter((one) => !fields.some((given) => given.name === one))
      : []
    const keys = this.#keysIn(fields ?? [], place)
    if (fields && (!path || missing.length > 0) && this.#isReference(field, keys)) {
      this.#references.set(`${type}.${name}`, { type, field: name, target, keys })
      return
    }
    const text = print(field.type)
    if (place.length === 0 && (text.startsWith('[') || (!fields && target !== 'JSON'))) {
      this.#leaveOut(
        type,
        name,
        `a selection without a property is not supported for the type ${text}; write a resolver in a TypeScript config`,
        line,
      )
      return
    }
    if (this.entities.has(target) && missing.length > 0)
      this.#old.note(
        line,
        `${type}.${name}: the old gateway loaded ${missing.join(', ')} with a separate request; this gateway returns only the values that the response for ${type}.${name} contains`,
      )
    const key = keyAt(place)
    const known = this.#keys.get(`${type}.${name}`)
    if (known !== undefined && known !== key)
      this.#old.note(
        line,
        `${type}.${name}: another connector reads this field from ${known}, this connector from ${key}; the gateway uses ${known}`,
      )
    else this.#keys.set(`${type}.${name}`, key)
    if (fields) this.#readFields(target, fields, [], line)
  }

  /** Fields that come with an object, and not by a request of their own. */
  #plainFields(type: string): readonly string[] {
    return this.#old
      .fieldsOf(type)
      .filter((field) => directiveOf(field, 'connect') === undefined)
      .map(({ name }) => name.value)
  }

  #keysIn(fields: readonly Selected[], above: readonly string[]): ReadonlyMap<string, string> {
    const keys = new Map<string, string>()
    for (const { name, path, fields: below, unsaid, variable } of fields)
      if (name !== undefined && path && !below && unsaid === undefined && variable === undefined)
        keys.set(name, keyAt([...above, ...path]))
    return keys
  }

  /** Whether a request finds the object by values that are there. */
  #isReference({ type }: FieldDefinitionNode, keys: ReadonlyMap<string, string>): boolean {
    const text = print(type)
    const takes = [...(this.entities.get(bareType(text))?.taken.args ?? [])]
    return !text.startsWith('[') && takes.length > 0 && takes.every((name) => keys.has(name))
  }

  #leaveOut(type: string, name: string, text: string, line: number | undefined): void {
    this.#unsaid.add(`${type}.${name}`)
    this.#old.note(line, `${type}.${name}: ${text}`)
  }
}

interface Connector {
  readonly type: string
  readonly field: FieldDefinitionNode
  readonly directive: OldDirective
  readonly request: ConnectRequest
  readonly responsePath: string | undefined
}

/** A subgraph of Apollo connectors. */
export class Connectors {
  readonly #old: OldDocument
  readonly #sources: ReadonlyMap<string, SourceSettings>
  readonly #name: string
  readonly #found: Connector[] = []
  /** Fields that have a request of their own, or that nothing gives. */
  readonly #elsewhere = new Set<string>()

  constructor(parsed: DocumentNode, name: string) {
    this.#old = new OldDocument(parsed)
    this.#name = name
    this.#sources = readSources(this.#old)
  }

  read(): Migration {
    const mapping = new Mapping(this.#old)
    for (const [{ name }, field] of this.#old.allFields()) this.#readEntity(name.value, field, mapping)
    for (const [{ name }, field] of this.#old.allFields()) this.#readField(name.value, field, mapping)
    for (const type of this.#old.types.values())
      if (type.kind === Kind.OBJECT_TYPE_DEFINITION)
        for (const one of directivesOf(type))
          if (one.name === 'connect')
            this.#old.note(
              one.line,
              `${type.name.value}: @connect on a type has no equivalent; declare an endpoint that returns ${type.name.value}, and add a join (setting on) for each field that returns ${type.name.value}`,
            )
    const entity = [...this.#old.types.values()].find((type) => directiveOf(type, 'key'))
    if (entity)
      this.#old.note(
        entity.loc?.startToken.line,
        `${entity.name.value}: @key is not converted, because clients query this gateway directly; set federation to remain a subgraph of a router`,
      )
    const rest = new RestDrafts(this.#old)
    for (const connector of this.#found) this.#add(connector, rest, mapping)
    const words: TypeWords = {
      placeOf: (type, field) =>
        this.#elsewhere.has(`${type}.${field.name.value}`) ? undefined : mapping.placeOf(type, field),
      more: (type) => mapping.more(type),
      keyOf: (type, field) => mapping.keyOf(type, field),
    }
    const written = rest.write(words, new Set())
    const inaccessible = hiddenFrom(this.#old)
    for (const source of Object.values(written)) {
      const { types = {} } = source as { readonly types?: Readonly<Record<string, Members>> }
      const more = Object.keys(types).flatMap((type) =>
        Object.keys(mapping.more(type)).map((name) => `${type}.${name}`),
      )
      const hide = [...more, ...inaccessible.filter((coordinate) => isAmong(types, coordinate))]
      if (hide.length > 0) Object.assign(source, { hide })
    }
    return {
      from: 'Apollo connectors',
      config: filled({ rest: written }),
      notes: this.#old.notes,
      schema: schemaForClients(this.#old.document),
    }
  }

  /** A request that finds an object by its key is known before what refers to the object. */
  #readEntity(type: string, field: FieldDefinitionNode, mapping: Mapping): void {
    const directive = directiveOf(field, 'connect')
    if (directive?.args['entity'] !== true || !this.#old.roots.has(type)) return
    try {
      const { taken } = readRequest(field, directive, this.#sources, this.#name)
      mapping.entities.set(bareType(print(field.type)), { field, taken })
    } catch (error) {
      // Said once, where the field is read.
      if (!(error instanceof Unsaid)) throw error
    }
  }

  #readField(type: string, field: FieldDefinitionNode, mapping: Mapping): void {
    const coordinate = `${type}.${field.name.value}`
    if (directiveOf(field, 'inaccessible') && this.#old.roots.has(type)) {
      this.#elsewhere.add(coordinate)
      return
    }
    const [directive, more] = directivesOf(field).filter(({ name }) => name === 'connect')
    const root = this.#old.roots.get(type)
    if (!directive) {
      if (!root) return
      this.#elsewhere.add(coordinate)
      this.#old.note(
        field.loc?.startToken.line,
        `${coordinate}: this field has no @connect directive; add one, or write a resolver in a TypeScript config`,
      )
      return
    }
    this.#elsewhere.add(coordinate)
    if (more)
      this.#old.note(
        more.line,
        `${coordinate}: a field can have only one @connect directive; further directives are ignored`,
      )
    for (const option of ['errors', 'isSuccess'])
      if (directive.args[option] !== undefined)
        this.#old.note(
          directive.line,
          `${coordinate}: ${option} has no equivalent; the gateway derives errors from the HTTP status`,
        )
    this.#old.attempt(directive.line, coordinate, () => {
      const request = readRequest(field, directive, this.#sources, this.#name)
      for (const note of request.notes) this.#old.note(directive.line, `${coordinate}: ${note}`)
      const argument = field.arguments?.find(
        ({ name }) => request.body && 'arg' in request.body && name.value === request.body.arg,
      )
      if (request.input && argument)
        mapping.readInput(bareType(print(argument.type)), request.input, directive.line)
      const selection = String(directive.args['selection'] ?? '')
      const responsePath = mapping.read(bareType(print(field.type)), selection, directive.line)
      this.#found.push({ type, field, directive, request, responsePath })
    })
  }

  #add(
    { type, field, directive, request, responsePath }: Connector,
    rest: RestDrafts,
    mapping: Mapping,
  ): void {
    const { source, settings, forwarded, input: _input, notes: _notes, ...call } = request
    const name = field.name.value
    const target = bareType(print(field.type))
    const joins = mapping.entities.get(target)?.field === field ? mapping.joinsOf(target) : []
    this.#old.attempt(directive.line, `${type}.${name}`, () => {
      rest.open(source, settings, forwarded)
      rest.add(source, { ...call, parent: type, field, name, responsePath }, joins)
    })
  }
}

interface Members {
  readonly fields?: object
  readonly values?: object
}

/** Coordinates of what routers keep from clients: types, and fields and values of others. */
function hiddenFrom(old: OldDocument): readonly string[] {
  return [...old.types.values()].flatMap((type) => {
    const name = type.name.value
    if (directiveOf(type, 'inaccessible')) return [name]
    const members = [
      ...('fields' in type ? (type.fields ?? []) : []),
      ...('values' in type ? (type.values ?? []) : []),
    ]
    return members.flatMap((member) =>
      directiveOf(member, 'inaccessible') ? [`${name}.${member.name.value}`] : [],
    )
  })
}

function isAmong(types: Readonly<Record<string, Members>>, coordinate: string): boolean {
  const [name = '', member] = coordinate.split('.')
  const type = types[name]
  if (!type || member === undefined) return type !== undefined
  return Object.hasOwn(type.fields ?? {}, member) || Object.hasOwn(type.values ?? {}, member)
}
