import { pointerOf } from '../findings.ts'
import { asList, asNode, asText, type Node, type OpenApiDocument } from '../openapi-document.ts'
import { discriminatorIn } from './discriminator.ts'

/** More variants than these are no choice that a query spells out: the base is then an object of its own fields. */
const MAX_SUBTYPES = 100

/** The schemas that are made of another one, which has a discriminator. */
export interface Subtypes {
  readonly variants: readonly Node[]
  /** The one of the variants that is the other schema itself; undefined: it has nothing to show. */
  readonly base?: Node | undefined
}

/** A schema with a discriminator that all options of a choice are made of. */
export interface CommonBase {
  readonly ref: Node
  readonly discriminator: unknown
  /** The choice has no name of its own and leaves out none of what is made of the base: it is the base. */
  readonly isWhole: boolean
}

/** The schemas that are made of others by `allOf`. */
export interface Inheritance {
  /**
   * The variants of a schema that has a discriminator and lists none itself: the schemas that are made of it, and itself, as
   * its name is a value, too; undefined: it is no such schema.
   */
  readonly subtypesOf: (base: Node) => Subtypes | undefined
  /** What all options of a choice are made of; undefined: nothing with a discriminator. */
  readonly baseOf: (choice: Node, options: readonly unknown[]) => CommonBase | undefined
}

export function createInheritance(
  document: OpenApiDocument,
  onUnsaid: (message: string) => void,
): Inheritance {
  const byRef = new Map<string, Node>()
  const refs = new Map<Node, string>()
  let known: ReadonlyMap<Node, readonly string[]> | undefined

  function read(): ReadonlyMap<Node, readonly string[]> {
    const direct = new Map<Node, string[]>()
    for (const [name, schema] of Object.entries(document.components('schemas'))) {
      const ref = pointerOf('components', 'schemas', name)
      byRef.set(ref, asNode(schema))
      if (!refs.has(asNode(schema))) refs.set(asNode(schema), ref)
      for (const part of asList(asNode(schema)['allOf'])) {
        if (asText(asNode(part)['$ref']) === undefined) continue
        const base = document.find(part)
        if (base === undefined || base === schema) continue
        const list = direct.get(base)
        if (list) list.push(ref)
        else direct.set(base, [ref])
      }
    }
    return new Map([...direct.keys()].map((base) => [base, closure(base, direct, byRef)]))
  }

  function baseOf(choice: Node, options: readonly unknown[]): CommonBase | undefined {
    const nodes = new Set(options.map((option) => document.find(option)))
    known ??= read()
    for (const [base, below] of known) {
      const ref = refs.get(base)
      if (!discriminatorIn(base) || ref === undefined || below.length > MAX_SUBTYPES) continue
      const children = new Set(below.map((one) => byRef.get(one)))
      if (![...nodes].every((node) => node === base || children.has(node))) continue
      const isWhole = !refs.has(choice) && [...children].every((child) => nodes.has(child))
      return { ref: { $ref: ref }, discriminator: base['discriminator'], isWhole }
    }
    return undefined
  }

  function subtypesOf(base: Node): Subtypes | undefined {
    if (!discriminatorIn(base)) return undefined
    known ??= read()
    const below = known.get(base) ?? []
    if (below.length > MAX_SUBTYPES)
      onUnsaid(
        `${below.length} schemas extend ${refs.get(base) ?? 'a schema with a discriminator'}, but the import supports at most ${MAX_SUBTYPES} subtypes for each schema; the schema becomes an object type without the properties of its subtypes`,
      )
    if (below.length === 0 || below.length > MAX_SUBTYPES) return undefined
    const own = refs.get(base)
    const variants: readonly Node[] = below.map(($ref) => ({ $ref }))
    const hasMembers = Object.keys(asNode(base['properties'])).length > 0
    if (own === undefined || !hasMembers) return { variants }
    // With members of its own it is a schema beside the one that it is made of.
    const itself = { allOf: [{ $ref: own }], properties: {}, title: 'Base' }
    return { variants: [...variants, itself], base: itself }
  }

  return { subtypesOf, baseOf }
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
