import { createHash } from 'node:crypto'
import { decoded, splitOnce, unescapeStep } from '../openapi-document.ts'
import { capitalize, isName, legal, pascal, passedOver, type GaveWay } from '../names.ts'

/** Names that GraphQL, or a scalar of the suite, has already. */
const RESERVED: readonly string[] =
  'Query Mutation Subscription String Int Float Boolean ID Long JSON Upload DateTime Date UUID URI EmailAddress Base64'.split(
    ' ',
  )

/** Who has names that are of no schema. */
const NOBODY: ReadonlySet<string> = new Set(['taken', 'reserved'])

/** Longer names are cut in the middle. */
const MAX_LENGTH = 60

/** The place of a type that has no name of its own. */
export interface Place {
  /** The name that the type would have. */
  readonly name: string
  /** Tells it from all other places. */
  readonly key: string
}

/** The name of a schema, where a document names it. */
export interface SchemaName {
  readonly name: string
  /** Tells it from schemas of other files and places that are called alike; of the document's own ones the name. */
  readonly key: string
}

/** Why a type or a field does not have the name that it would have in a document of its own. */
export interface NameConflicts {
  /** The name that it would have if no other source used that name. */
  readonly wanted?: string | undefined
  /** The schema that the wanted name is made of. */
  readonly schema?: string | undefined
  /** Identifies a type. */
  readonly key?: string
  /** The names that it would have if no other part of the document used them. */
  readonly passed: readonly GaveWay[]
}

export interface NamingOptions {
  /** Names that others have, and what is put before an own one that is among them. */
  readonly taken: ReadonlySet<string>
  readonly source: string
  /** Names that the user chose: by the schema's name in the document, of fields by operation id or `GET /path`. */
  readonly rename: Readonly<Record<string, string>>
}

/**
 * Names types by the schemas' names, in Pascal case: `io.k8s.api.core.v1.Pod` is `Pod` where no other schema ends so.
 * Schemas whose names are GraphQL names in Pascal case keep them, whatever others come along; of others that become
 * equal the first one keeps the name, and each later one goes on to its next choice. Types without a name are called by their place. A name that others have gets
 * the source's before it.
 */
export class TypeNames {
  readonly #options: NamingOptions
  readonly #owners = new Map<string, string>()
  readonly #components = new Map<string, string>()
  readonly #moved = new Map<string, Pick<NameConflicts, 'wanted' | 'schema'>>()
  readonly #gaveWay = new Map<string, readonly GaveWay[]>()

  /** `schemas`: the names of the document's schemas. */
  constructor(schemas: readonly string[], options: NamingOptions) {
    this.#options = options
    const { rename } = options
    for (const name of options.taken) this.#owners.set(name, 'taken')
    for (const name of RESERVED) this.#owners.set(name, 'reserved')
    const chosen = schemas.filter((schema) => Object.hasOwn(rename, schema))
    const keeps = (schema: string): boolean => schema === pascal(schema) && !RESERVED.includes(schema)
    const own = schemas.filter((schema) => !chosen.includes(schema) && keeps(schema))
    for (const schema of chosen) this.#assign(schema, rename[schema] as string, schema)
    // Schemas whose names others have come last, so that they find what is free.
    const isTaken = (schema: string): boolean => options.taken.has(this.#wishes(schema)[0] as string)
    for (const schema of [...own.filter((one) => !isTaken(one)), ...own.filter(isTaken), ...schemas])
      this.#component({ name: schema, key: schema })
  }

  /** Names of those of the schemas that are called otherwise in the document. */
  differing(schemas: readonly string[]): Readonly<Record<string, string>> {
    const named = schemas.map((schema) => [schema, this.#component({ name: schema, key: schema })] as const)
    return Object.fromEntries(named.filter(([schema, name]) => schema !== name))
  }

  output(schema: SchemaName | undefined, place: Place): string {
    if (schema === undefined) return this.claim(place.name, `output ${place.key}`)
    const name = this.#component(schema)
    return name.endsWith('Input') && !this.#isChosen(schema.key)
      ? this.#made(this.claim(`${name}Output`, schema.key), name)
      : name
  }

  input(schema: SchemaName | undefined, place: Place): string {
    const key = `input ${schema?.key ?? place.key}`
    if (schema === undefined) {
      const wanted = `${withoutInput(place.name)}Input`
      const owner = this.#owners.get(wanted)
      // A property `input` would get the name of the type around it.
      return this.claim(owner === undefined || owner === key ? wanted : `${place.name}Input`, key)
    }
    const name = this.#component(schema)
    if (name.endsWith('Input')) return name
    const wanted = `${name}Input`
    const owner = this.#owners.get(wanted)
    const isOurs = owner === undefined || owner === key || owner === 'taken'
    if (isOurs) return this.#made(this.claim(wanted, key), name)
    const other = this.claim(`${name}_Input`, key)
    this.#gaveWay.set(other, [{ wanted, owner }])
    return other
  }

  /** A name that is made of another one: if that gave way, it did. */
  #made(name: string, of: string): string {
    const passed = this.#gaveWay.get(of) ?? []
    if (passed.length > 0 && !this.#gaveWay.has(name)) this.#gaveWay.set(name, passed)
    return name
  }

  /** Returns the name of an enum, a scalar or an entry, which are the same in and out. */
  shared(schema: SchemaName | undefined, place: Place): string {
    return schema === undefined ? this.claim(place.name, `shared ${place.key}`) : this.#component(schema)
  }

  /**
   * Returns the name of a scalar that all sources have alike, unless another has something else of that name.
   */
  scalar(name: string): string {
    return this.#options.taken.has(name) ? this.claim(name, `scalar ${name}`) : name
  }

  /** The name, or, where another type has it, one with a mark of its place. */
  claim(wanted: string, key: string): string {
    const short = shorten(legal(wanted), key)
    const apart = this.#apart(short)
    const owner = this.#owners.get(apart)
    let name = owner === undefined || owner === key ? apart : `${apart}_${markOf(key)}`
    while (this.#owners.has(name) && this.#owners.get(name) !== key) name += '_'
    this.#owners.set(name, key)
    if (owner !== undefined && owner !== key) this.#gaveWay.set(name, [{ wanted: apart, owner }])
    if (apart !== short) this.#moved.set(name, { wanted: short })
    return name
  }

  /** Returns the names that a type would have if other sources, or other types of the document, did not use them. */
  conflictsOf(name: string): NameConflicts {
    const passed = (this.#gaveWay.get(name) ?? []).filter(({ owner }) => !NOBODY.has(owner))
    return { ...this.#moved.get(name), key: this.#owners.get(name) ?? name, passed }
  }

  #component({ name, key }: SchemaName): string {
    const known = this.#components.get(key)
    if (known !== undefined) return known
    const candidates = this.#candidates(name)
    const free = candidates.find((one) => !this.#owners.has(one))
    return this.#assign(key, free ?? `${candidates.at(-1)}_${markOf(key)}`, name)
  }

  #assign(key: string, name: string, schema: string): string {
    this.#components.set(key, name)
    const candidates = this.#candidates(schema)
    const at = candidates.indexOf(name)
    const passed = passedOver(candidates.slice(0, at < 0 ? undefined : at), this.#owners)
    if (!this.#isChosen(key)) this.#gaveWay.set(name, passed)
    this.#owners.set(name, key)
    const { taken } = this.#options
    const wanted = this.#wishes(schema).find(
      (wish, place) => taken.has(wish) && (place === 0 || this.#apart(wish) === name),
    )
    if (wanted !== undefined && !this.#isChosen(key)) this.#moved.set(name, { wanted, schema })
    return name
  }

  #isChosen(schema: string): boolean {
    return Object.hasOwn(this.#options.rename, schema)
  }

  #candidates(schema: string): readonly string[] {
    return this.#wishes(schema).map((name) => this.#apart(name))
  }

  #apart(name: string): string {
    const { taken, source } = this.#options
    return taken.has(name) ? legal(`${pascal(source)}${name}`) : name
  }

  /** Its names as if nobody else had any, the most wanted one first. */
  #wishes(schema: string): readonly string[] {
    const parts = schema.split('.').filter((part) => pascal(part) !== '')
    const bare = parts.map((_, index) => pascal(parts.slice(-1 - index).join('.')))
    const names = (bare.length > 0 ? bare : ['Schema']).map((name) => shorten(legal(name), schema))
    const full = names.at(-1) as string
    // FastAPI writes the two sides of one model as schemas of their own.
    const side = pascal(/^(.+)-Output$/.exec(schema)?.[1] ?? '')
    const spelled = legal(capitalize(schema.replaceAll(/[^A-Za-z0-9_]+/g, '_')))
    const { source } = this.#options
    return [
      ...(side === '' ? [] : [shorten(legal(side), schema)]),
      ...names.map((name) => (RESERVED.includes(name) ? `${name}Type` : name)),
      ...(spelled === full ? [] : [spelled]),
      `${pascal(source)}${full}`,
      `${full}_${markOf(schema)}`,
    ]
  }
}

/** Keeps the beginning and the end of a long name, with a mark between that tells it from others. */
function shorten(name: string, key: string): string {
  if (name.length <= MAX_LENGTH) return name
  const words = name.match(/[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])|_/g) ?? [name]
  let end = ''
  while (words.length > 1 && end.length + (words.at(-1)?.length ?? 0) <= 30) end = words.pop() + end
  const short = `${name.slice(0, MAX_LENGTH - end.length - 5)}_${markOf(key)}${end}`
  return isName(short) ? short : name.slice(0, MAX_LENGTH)
}

/** Four letters of a key: the same wherever it is computed. */
function markOf(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 4)
}

/** The place below another, which is called `word` there. */
export function inside(place: Place, step: string, word: string, owner = ''): Place {
  return { name: `${place.name}${pascal(word)}`, key: `${owner || place.key}/${step}` }
}

export function withoutInput(name: string): string {
  return name.replace(/Input$/, '')
}

/** The key of a type or of an operation as a person would say it: `input Pet` is what is sent of the schema. */
export function spokenKey(key: string): string {
  const [, way, of = key] = /^(input|output|shared|scalar) (.+)$/.exec(key) ?? []
  return way === 'input' ? `the input of ${of}` : of
}

/** Steps of a place inside of an operation or a schema, where nothing has a name that others may not have. */
const INSIDE = new Set('paths items schema properties additionalProperties allOf oneOf anyOf'.split(' '))

/**
 * The name that a reference gives to its schema: that of a component, of a definition, or of a whole file. What stands
 * elsewhere, as in documents that a bundler wrote, is called by its place: `items` would be everybody's name.
 */
export function schemaName(ref: string | undefined): SchemaName | undefined {
  if (ref === undefined) return undefined
  const [file, pointer] = splitOnce(ref, '#')
  const steps = pointer
    .split('/')
    .slice(1)
    .filter(Boolean)
    .map((step) => unescapeStep(decoded(step)))
  const last = steps.at(-1)
  if (last === undefined) {
    const fileName = unescapeStep(decoded(file.split('/').at(-1) ?? ''))
    return file === '' ? undefined : { name: fileName.replace(/\.\w+$/, ''), key: ref }
  }
  const isOwn = file === '' && steps.length === 3 && steps[0] === 'components' && steps[1] === 'schemas'
  if (isOwn) return { name: last, key: last }
  const isInside = steps.some((step, index) => INSIDE.has(step) && steps[index - 1] !== 'schemas')
  return isInside ? undefined : { name: last, key: ref }
}

/**
 * The place of a part that several operations refer to: that of the component, which stays whatever operations come along;
 * of one that stands in its operation, that other place.
 */
export function sharedPlace(ref: string | undefined, other: Place): Place {
  const [section = '', last = ''] = (ref ?? '').split('/').slice(-2)
  const name = SHARED.has(section) ? pascal(unescapeStep(decoded(last))) : ''
  return ref === undefined || !/^[A-Za-z]/.test(name) ? other : { name, key: ref }
}

const SHARED = new Set(['parameters', 'requestBodies', 'responses'])
