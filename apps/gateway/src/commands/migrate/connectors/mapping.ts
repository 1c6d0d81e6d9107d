import { type FieldDefinitionNode, type InputValueDefinitionNode, print } from 'graphql'
import { bareType } from '../../against/coordinates-of.ts'
import { directiveOf, type OldDocument } from '../old-document.ts'
import type { JoinedField, Taken } from '../rest-draft.ts'
import type { Place } from '../sdl-types.ts'
import { Unsaid } from '../migration.ts'
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
export class Mapping {
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
          `${coordinate}: another connector sends this field as ${known}, this connector as ${key}; the gateway uses ${known}`,
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
