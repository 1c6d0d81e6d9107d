import { pointerOf } from '../findings.ts'
import { asList, asNode, asText, type Node, type OpenApiDocument } from '../openapi-document.ts'
import { discriminatorIn } from './discriminator.ts'

/** More variants than these are no choice that a query spells out: the base is then an object of its own fields. */
const MAX_SUBTYPES = 100

/** The schemas that are made of others by `allOf`. */
export class Inheritance {
  readonly #document: OpenApiDocument
  readonly #onUnsaid: (message: string) => void
  readonly #byRef = new Map<string, Node>()
  readonly #refs = new Map<Node, string>()
  #known: ReadonlyMap<Node, readonly string[]> | undefined

  constructor(document: OpenApiDocument, onUnsaid: (message: string) => void) {
    this.#document = document
    this.#onUnsaid = onUnsaid
  }

  #read(): ReadonlyMap<Node, readonly string[]> {
    const direct = new Map<Node, string[]>()
    for (const [name, schema] of Object.entries(this.#document.components('schemas'))) {
      const ref = pointerOf('components', 'schemas', name)
      this.#byRef.set(ref, asNode(schema))
      if (!this.#refs.has(asNode(schema))) this.#refs.set(asNode(schema), ref)
      for (const part of asList(asNode(schema)['allOf'])) {
        if (asText(asNode(part)['$ref']) === undefined) continue
        const base = this.#document.find(part)
        if (base === undefined || base === schema) continue
        const list = direct.get(base)
        if (list) list.push(ref)
        else direct.set(base, [ref])
      }
    }
    return new Map([...direct.keys()].map((base) => [base, closure(base, direct, this.#byRef)]))
  }

  /**
   * Returns the schema with a discriminator that all options of a choice are made of. `isWhole` means that the choice has no
   * name of its own and contains all schemas that are made of the base, so that it is the base.
   */
  baseOf(
    choice: Node,
    options: readonly unknown[],
  ): { readonly ref: Node; readonly discriminator: unknown; readonly isWhole: boolean } | undefined {
    const nodes = new Set(options.map((option) => this.#document.find(option)))
    this.#known ??= this.#read()
    for (const [base, below] of this.#known) {
      const ref = this.#refs.get(base)
      if (!discriminatorIn(base) || ref === undefined || below.length > MAX_SUBTYPES) continue
      const children = new Set(below.map((one) => this.#byRef.get(one)))
      if (![...nodes].every((node) => node === base || children.has(node))) continue
      const isWhole = !this.#refs.has(choice) && [...children].every((child) => nodes.has(child))
      return { ref: { $ref: ref }, discriminator: base['discriminator'], isWhole }
    }
    return undefined
  }

  /**
   * Returns the variants of a schema that has a discriminator and lists no variants: the schemas that are made of it and, as
   * `base`, itself if it has properties, because its name is a value, too.
   */
  subtypesOf(base: Node): { readonly variants: readonly Node[]; readonly base?: Node } | undefined {
    if (!discriminatorIn(base)) return undefined
    this.#known ??= this.#read()
    const below = this.#known.get(base) ?? []
    const own = this.#refs.get(base)
    if (below.length > MAX_SUBTYPES)
      this.#onUnsaid(
        `${below.length} schemas extend ${own ?? 'a schema with a discriminator'}, but the import supports at most ${MAX_SUBTYPES} subtypes for each schema; the schema becomes an object type without the properties of its subtypes`,
      )
    if (below.length === 0 || below.length > MAX_SUBTYPES) return undefined
    const variants: readonly Node[] = below.map(($ref) => ({ $ref }))
    const hasMembers = Object.keys(asNode(base['properties'])).length > 0
    if (own === undefined || !hasMembers) return { variants }
    // With members of its own it is a schema beside the one that it is made of.
    const itself = { allOf: [{ $ref: own }], properties: {}, title: 'Base' }
    return { variants: [...variants, itself], base: itself }
  }
}

/** Returns the schemas that are made of the base, and those that are made of them, each once. */
function closure(
  base: Node,
  direct: ReadonlyMap<Node, readonly string[]>,
  byRef: ReadonlyMap<string, Node>,
): readonly string[] {
  const found = new Set<string>()
  const waiting = [base]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop())
    for (const ref of direct.get(node) ?? []) {
      if (found.has(ref) || byRef.get(ref) === base) continue
      found.add(ref)
      waiting.push(byRef.get(ref) as Node)
    }
  return [...found]
}
