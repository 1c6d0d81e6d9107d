import { isInterfaceType, isObjectType, type GraphQLSchema } from 'graphql'
import { groupBy } from '../schema/group-by.ts'
import { elementsOf, isRoot, partOf, unionsOf, type Element } from './elements.ts'
import { type Finding, nearestNames } from '@vinyasa/core'
import type { SourceNames } from './options.ts'
import { standardScalar, whatMayBe } from './standard-scalars.ts'

/** A schema coordinate in which `*` stands for any part of a name. */
interface Pattern {
  readonly text: string
  /** Returns what the `*`s stand for; undefined where a coordinate is not meant. */
  match(coordinate: string): readonly string[] | undefined
  readonly isExact: boolean
}

const NAME = '[A-Za-z_*][\\w*]*'
const COORDINATE = new RegExp(`^${NAME}(\\.${NAME}(\\(${NAME}:\\))?)?$`)

/** Undefined where the text is no coordinate. */
function parsePattern(text: string): Pattern | undefined {
  if (!COORDINATE.test(text)) return undefined
  if (!text.includes('*'))
    return { text, isExact: true, match: (coordinate) => (coordinate === text ? [] : undefined) }
  const expression = new RegExp(
    `^${text.replaceAll(/[.()]/g, String.raw`\$&`).replaceAll('*', '([A-Za-z0-9_]*)')}$`,
  )
  return {
    text,
    isExact: false,
    match: (coordinate) => expression.exec(coordinate)?.slice(1),
  }
}

/** How many of the parts that have a name of their own a coordinate has: types and fields are not mixed up. */
function depthOf(coordinate: string): number {
  return coordinate.includes('(') ? 3 : coordinate.includes('.') ? 2 : 1
}

/** The new name, with what the `*`s of the last part of the pattern stood for in place of its own. */
function fillName(name: string, pattern: Pattern, matched: readonly string[]): string {
  const before = pattern.text.slice(0, Math.max(pattern.text.indexOf('.'), pattern.text.indexOf('(')) + 1)
  let next = before.split('*').length - 1
  return name.replaceAll('*', () => matched[next++] ?? '')
}

/** The name that clients have for something, by its coordinate in the source's own names; null: it is hidden. */
export type Names = ReadonlyMap<string, string | null>

export interface Decided {
  readonly names: Names
  readonly findings: readonly Finding[]
}

interface Chosen {
  readonly name: string
  /** The text of the pattern in `rename`. */
  readonly by: string
}

/** The setting that the name of the last of these comes from which has one of `rename`. */
type SettingOf = (elements: readonly Element[]) => readonly PropertyKey[]

const TAKEN: ReadonlySet<string> = new Set(
  'Query Mutation Subscription Boolean Float ID Int String'.split(' '),
)

/**
 * Decides on all names of a source's own schema, and of fields that wait to be part of it. `own`: its object types that may
 * have no fields yet.
 */
export function decideNames(
  schema: GraphQLSchema,
  own: ReadonlySet<string>,
  options: SourceNames,
  waiting: readonly Element[] = [],
): Decided {
  return new Decision(schema, [...elementsOf(schema, own), ...waiting]).decide(options)
}

class Decision {
  readonly #schema: GraphQLSchema
  readonly #elements: readonly Element[]
  /** Fields that are called as the interface has them, by their coordinates. */
  readonly #carriers: ReadonlyMap<string, string>
  readonly #findings: Finding[] = []

  constructor(schema: GraphQLSchema, elements: readonly Element[]) {
    this.#schema = schema
    this.#elements = elements
    this.#carriers = interfaceFields(schema)
  }

  decide({ prefix, rename = {}, hide = [] }: SourceNames): Decided {
    const gone = this.#hidden(hide)
    this.#checkHidden(gone)
    const chosen = this.#renamed(rename, gone)
    const nameOf = ({ coordinate, parent, name, kind }: Element): string => {
      const given = chosen.get(this.#carrierOf(coordinate))
      if (given) return given.name
      if (kind === 'type') return prefixed(prefix, 'types', name)
      return kind === 'field' && isRoot(parent ?? '') ? prefixed(prefix, 'fields', name) : name
    }
    const names = new Map<string, string | null>()
    for (const element of this.#elements) {
      const { coordinate } = element
      names.set(coordinate, gone.has(coordinate) ? null : nameOf(element))
    }
    const settingOf: SettingOf = (elements) => {
      const last = elements.findLast(({ coordinate }) => chosen.has(this.#carrierOf(coordinate)))
      const by = last && chosen.get(this.#carrierOf(last.coordinate))?.by
      return by === undefined ? ['prefix'] : ['rename', by]
    }
    return { names, findings: [...this.#findings, ...problemsOf(this.#elements, names, settingOf)] }
  }

  #report(message: string, ...path: readonly PropertyKey[]): void {
    this.#findings.push({ message, path })
  }

  #carrierOf(coordinate: string): string {
    if (this.#carriers.size === 0) return coordinate
    const [, field = coordinate, rest = ''] = /^([^(]*)(.*)$/.exec(coordinate) ?? []
    return (this.#carriers.get(field) ?? field) + rest
  }

  /** `texts` by their keys in the setting. */
  #patterns(setting: 'hide' | 'rename', texts: readonly (readonly [PropertyKey, string])[]): Pattern[] {
    return texts.flatMap(([key, text]) => {
      const pattern = parsePattern(text)
      if (pattern && this.#elements.some((element) => means(pattern, element))) return [pattern]
      const problem = !pattern
        ? 'not a schema coordinate; write "Type", "Type.field", "Enum.VALUE" or "Type.field(argument:)"'
        : isRoot(text)
          ? `a root type; use its fields, for example "${text}.*"`
          : `not in the source${this.#suggest(text)}`
      this.#report(`${setting}: "${text}" is ${problem}`, setting, key)
      return []
    })
  }

  #suggest(text: string): string {
    const known = this.#elements.map(({ coordinate }) => coordinate)
    const close = nearestNames(
      text,
      known.filter((coordinate) => depthOf(coordinate) === depthOf(text)),
    )
    return close.length === 0 ? '' : `; did you mean ${close.map((one) => `"${one}"`).join(' or ')}?`
  }

  #hidden(hide: readonly string[]): Set<string> {
    const texts = [...hide.entries()]
    const taking = this.#patterns(
      'hide',
      texts.filter(([, text]) => !text.startsWith('!')),
    )
    const keeping = this.#patterns(
      'hide',
      texts.flatMap(([key, text]) => (text.startsWith('!') ? [[key, text.slice(1)]] : [])),
    )
    const isMeant = (all: readonly Pattern[], element: Element): boolean =>
      all.some((pattern) => means(pattern, element))
    const found = new Set<string>()
    for (const element of this.#elements) {
      const { coordinate } = element
      const carrier = { ...element, coordinate: this.#carrierOf(coordinate) }
      if (isMeant(taking, carrier) && !isMeant(keeping, carrier)) found.add(coordinate)
    }
    for (let before = -1; before !== found.size;) {
      before = found.size
      // Nobody can ask for a field or an argument whose type nobody sees.
      for (const { coordinate, type } of this.#elements)
        if (type !== undefined && found.has(type)) found.add(coordinate)
    }
    return found
  }

  #checkHidden(gone: ReadonlySet<string>): void {
    const isGone = (coordinate: string | undefined): boolean =>
      coordinate !== undefined && (gone.has(coordinate) || isGone(parents.get(coordinate)))
    const parents = new Map(this.#elements.map(({ coordinate, parent }) => [coordinate, parent]))
    for (const { coordinate, parent, isRequired, kind } of this.#elements)
      if (isRequired && gone.has(coordinate) && !isGone(parent))
        this.#report(
          `hide: removes ${coordinate}, which is required; hide ${kind === 'argument' ? '' : 'the type '}"${parent}" too, or keep the ${kind}`,
          'hide',
        )
    const parts = groupBy(
      this.#elements.filter(({ kind }) => kind !== 'argument'),
      ({ parent }) => parent,
    )
    for (const [parent, inside] of parts)
      if (parent !== undefined && !isRoot(parent) && !gone.has(parent))
        if (inside.every(({ coordinate }) => gone.has(coordinate)))
          this.#report(
            `hide: removes all ${inside[0]?.kind === 'value' ? 'values' : 'fields'} of ${parent}; hide "${parent}" too, or keep at least one of them`,
            'hide',
          )
    for (const [union, members] of unionsOf(this.#schema))
      if (!gone.has(union) && members.every((member) => gone.has(member)))
        this.#report(
          `hide: removes all members of ${union}; hide "${union}" too, or keep at least one member`,
          'hide',
        )
  }

  #renamed(rename: Readonly<Record<string, string>>, gone: ReadonlySet<string>): ReadonlyMap<string, Chosen> {
    const chosen = new Map<string, Chosen>()
    const parsed = this.#patterns(
      'rename',
      Object.keys(rename).map((text) => [text, text]),
    )
    // Exact names win over patterns.
    for (const pattern of parsed.toSorted((a, b) => Number(b.isExact) - Number(a.isExact)))
      for (const element of this.#elements) {
        const { coordinate } = element
        const matched = means(pattern, element)
        if (!matched || chosen.has(coordinate)) continue
        const carrier = this.#carrierOf(coordinate)
        if (pattern.isExact && gone.has(coordinate))
          this.#report(
            `rename: "${coordinate}" is hidden by hide; remove "${coordinate}" from rename, or do not hide it`,
            'rename',
            coordinate,
          )
        if (pattern.isExact && carrier !== coordinate)
          this.#report(
            `rename: ${coordinate} must have the same name in the type and in its interface; rename "${carrier}", which renames both`,
            'rename',
            coordinate,
          )
        const name = fillName(rename[pattern.text] as string, pattern, matched)
        chosen.set(coordinate, { name, by: pattern.text })
      }
    return chosen
  }
}

/** Gives what the `*`s of a pattern stand for; scalars, which sources share, are only meant by their full names. */
function means(pattern: Pattern, { coordinate, kind }: Element): readonly string[] | undefined {
  if (kind === 'root' || (kind === 'scalar' && !pattern.isExact)) return undefined
  return pattern.match(coordinate)
}

/** `shop` gives `ShopOrder` and `shopGetOrder`, `shop_` gives `Shop_Order` and `shop_getOrder`. */
function prefixed(prefix: SourceNames['prefix'], kind: 'types' | 'fields', name: string): string {
  if (typeof prefix === 'object') return (prefix[kind] ?? '') + name
  if (!prefix) return name
  if (kind === 'types') return capitalize(prefix) + name
  return prefix + (prefix.endsWith('_') ? name : capitalize(name))
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Names that GraphQL does not allow, and those that several have. */
function problemsOf(elements: readonly Element[], names: Names, settingOf: SettingOf): readonly Finding[] {
  const problems: Finding[] = []
  const report = (message: string, ...about: readonly Element[]): void =>
    void problems.push({ message, path: settingOf(about) })
  const visible = elements.filter(({ coordinate }) => typeof names.get(coordinate) === 'string')
  const nameOf = ({ coordinate }: Element): string => names.get(coordinate) ?? ''
  for (const element of visible) {
    const { coordinate, kind, name } = element
    const given = nameOf(element)
    if (given === name) continue
    if (kind === 'value' && /^(true|false|null)$/.test(given))
      report(
        `${coordinate} cannot be called "${given}", because GraphQL does not allow enum values called true, false or null`,
        element,
      )
    else if (!/^(?!__)[A-Za-z_]\w*$/.test(given))
      report(
        `${coordinate} cannot be called "${given}"; names consist of letters, digits and _, and must not start with a digit or __`,
        element,
      )
    else if ((kind === 'type' || kind === 'scalar') && TAKEN.has(given) && !isStandard(element, given))
      report(
        `${coordinate} cannot be called "${given}", because GraphQL defines that name${whatMayBe(given)}`,
        element,
      )
  }
  for (const [parent, parts] of groupBy(visible, (element) => element.parent))
    for (const [name, rivals] of groupBy(parts, nameOf))
      if (rivals.length > 1 && !rivals.every((element) => isStandard(element, name)))
        report(
          `${rivals.map(({ coordinate }) => coordinate).join(' and ')} would have the same name "${name}"${
            parent === undefined ? '' : ` in ${parent}`
          }; rename or hide all but one`,
          ...rivals,
        )
  return problems
}

/** A scalar that stands for one of GraphQL's own, as several may. */
function isStandard({ kind, name }: Element, given: string): boolean {
  return kind === 'scalar' && standardScalar(name, given) !== undefined
}

/** Fields that are called as the interface has them, by their coordinates. */
function interfaceFields(schema: GraphQLSchema): ReadonlyMap<string, string> {
  const carriers = new Map<string, string>()
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) && !isInterfaceType(type)) continue
    for (const name of Object.keys(type.getFields())) {
      // An interface may have the field from another one, which then is the carrier.
      const carrier = type
        .getInterfaces()
        .find(
          (one) =>
            Object.hasOwn(one.getFields(), name) &&
            !one.getInterfaces().some((other) => Object.hasOwn(other.getFields(), name)),
        )
      if (carrier) carriers.set(partOf(type.name, name).coordinate, partOf(carrier.name, name).coordinate)
    }
  }
  return carriers
}
