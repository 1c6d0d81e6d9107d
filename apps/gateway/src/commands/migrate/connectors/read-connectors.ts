import { type DocumentNode, type FieldDefinitionNode, Kind, print } from 'graphql'
import { bareType } from '../../against/coordinates-of.ts'
import { schemaForClients } from '../../against/read-old-schema.ts'
import { type ConnectRequest, readRequest, readSources, type SourceSettings } from './request.ts'
import { Mapping } from './mapping.ts'
import { filled, type Migration, Unsaid } from '../migration.ts'
import { directiveOf, directivesOf, OldDocument, type OldDirective } from '../old-document.ts'
import { RestDrafts } from '../rest-draft.ts'
import type { TypeWords } from '../sdl-types.ts'

interface Connector {
  readonly type: string
  readonly field: FieldDefinitionNode
  readonly directive: OldDirective
  readonly request: ConnectRequest
  readonly responsePath: string | undefined
}

/** Reads a subgraph of Apollo connectors. */
export function readConnectors(parsed: DocumentNode, name: string): Migration {
  return new Connectors(parsed, name).read()
}

class Connectors {
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
