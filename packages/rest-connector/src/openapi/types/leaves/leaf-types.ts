import type { EnumDefinition, TypeDefinition } from '../../../declare/type-definitions.ts'
import type { Node } from '../../openapi-document.ts'
import { describe } from '../describe.ts'
import { namesIn } from './enum-names.ts'
import { FORMAT_SCALARS, scalarOf, type IntegerTyping } from './scalars.ts'
import { schemaName } from '../schema-name.ts'
import type { Shape } from '../shape.ts'
import type { Place, TypeNames } from '../type-names.ts'

/** The types without fields of their own: scalars and enums, and the entries of maps. */
export class LeafTypes {
  readonly #names: TypeNames
  readonly #integers: IntegerTyping
  readonly #definitions: Map<string, TypeDefinition>
  readonly #enums = new Map<Node, string>()
  /** Enums without a name of their own, by their places' names and values. */
  readonly #likeEnums = new Map<string, string>()

  /** New types are added to `definitions`. */
  constructor(names: TypeNames, integers: IntegerTyping, definitions: Map<string, TypeDefinition>) {
    this.#names = names
    this.#integers = integers
    this.#definitions = definitions
  }

  of(shape: Shape, place: Place): string {
    if (shape.kind === 'enum') return this.#enum(shape, place)
    if (shape.kind === 'any') return 'JSON'
    const name = scalarOf(shape.type, shape.node, this.#integers)
    const definition = Object.hasOwn(FORMAT_SCALARS, name) ? FORMAT_SCALARS[name] : undefined
    if (!definition) return name
    const own = this.#names.scalar(name)
    this.#definitions.set(own, definition)
    return own
  }

  #enum(shape: Shape, place: Place): string {
    const known = this.#enums.get(shape.node)
    if (known !== undefined) return known
    const schema = schemaName(shape.ref)
    // The enums of input and output at places of one name are one type, where they are the same.
    const alike = JSON.stringify([place.name, shape.values, shape.node['description']])
    const name = (schema ? undefined : this.#likeEnums.get(alike)) ?? this.#names.shared(schema, place)
    this.#enums.set(shape.node, name)
    if (!schema) this.#likeEnums.set(alike, name)
    const values: EnumDefinition['values'] = Object.fromEntries(
      [...namesIn(shape.node, shape.values ?? [])].map(([value, valueName]) => [valueName, { value }]),
    )
    this.#definitions.set(name, { kind: 'enum', ...describe(shape.node), values })
    return name
  }

  /** Returns the type of the entries of a JSON object whose values have this type. */
  entry(value: string, isInput: boolean): string {
    const wanted = `${value
      .replaceAll('[', '')
      .replaceAll(/\]/g, 'List')
      .replaceAll('!', '')
      .replace(/Input(?=$|List)/, '')}Entry`
    const key = `${isInput ? 'input ' : ''}entry of ${value}`
    const name = this.#names.claim(isInput ? `${wanted}Input` : wanted, key)
    this.#definitions.set(name, { kind: isInput ? 'input entry' : 'entry', value })
    return name
  }
}
