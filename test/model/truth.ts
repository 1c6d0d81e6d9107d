import { lower } from './shapes.ts'
import type { EntityPlan, MutationPlan, SchemaPlan } from './plan.ts'

interface Row {
  readonly id: string
  text: string
  number: number
  readonly links: Map<string, string>
}

/** What a call asks with, as far as backends echo it: `<x-tenant=a>`. */
export type Mark = string

/** What both backends of one tenant hold, in memory. */
export class Truth {
  readonly #schema: SchemaPlan
  readonly #rows = new Map<string, Map<string, Row>>()
  readonly #made = new Map<string, number>()
  /** Counts what was committed. */
  version = 0

  constructor(schema: SchemaPlan, tenant: string) {
    this.#schema = schema
    for (const { name, letter } of schema.entities) {
      this.#rows.set(name, new Map())
      for (let made = 1; made <= 3; made++) this.#create(name, `${tenant} ${letter}${made}`)
    }
    // Once all are there.
    for (const { name } of schema.entities) for (const row of this.#all(name)) this.#link(name, row)
  }

  ids(type: string): readonly string[] {
    return [...this.#rows.get(type)!.keys()]
  }

  /** Those whose link holds the key. */
  linked(type: string, link: string, key: string): readonly string[] {
    return this.#all(type)
      .filter(({ links }) => links.get(link) === key)
      .map(({ id }) => id)
  }

  count(type: string): number {
    return this.#all(type).length
  }

  sum(type: string): number {
    return this.#all(type).reduce((sum, { number }) => sum + number, 0)
  }

  newest(type: string): string {
    return this.#all(type).at(-1)?.text ?? ''
  }

  /** As a backend sends it; undefined where there is none. */
  entity(type: string, id: string, mark: Mark, depth = 0): Record<string, unknown> | undefined {
    const row = this.#rows.get(type)?.get(id)
    if (!row) return undefined
    const { note, embeds, computed, links, partners } = this.#planOf(type)
    const value: Record<string, unknown> = { id: row.id, text: row.text + mark, number: row.number }
    if (note !== undefined) value['note'] = { text: `${row.text} noted${mark}`, weight: row.number }
    for (const { field } of links) value[field] = row.links.get(field) ?? ''
    for (const { field, from, isNote } of computed) {
      const weight = this.sum(from) + 1_000 * this.count(from)
      value[field] = isNote ? { text: `of ${from}${mark}`, weight } : weight
    }
    if (depth >= 2) return value
    if (partners.length > 0) Object.assign(value, this.#partner(row.id, partners, mark, depth + 1))
    for (const { field, type: inner, many } of embeds) {
      const ids = this.ids(inner)
      value[field] = many
        ? this.entities(inner, ids.slice(0, 2), mark, depth + 1)
        : this.entity(inner, ids[0] ?? '', mark, depth + 1)
    }
    return value
  }

  /** Who it is follows from the id alone, so that nothing else changes it. */
  #partner(id: string, partners: readonly string[], mark: Mark, depth: number) {
    const number = Number(id.slice(1))
    const partner = partners[number % partners.length]!
    const found = this.entity(partner, `${this.#planOf(partner).letter}${1 + (number % 3)}`, mark, depth)
    return found && { [lower(partner)]: found }
  }

  entities(type: string, ids: readonly string[], mark: Mark, depth = 0): readonly Record<string, unknown>[] {
    return ids.flatMap((id) => {
      const value = this.entity(type, id, mark, depth)
      return value ? [value] : []
    })
  }

  /** Carries a mutation out. Returns the id of the row that it is about. */
  commit(
    { type, effect, side }: MutationPlan,
    args: { readonly id: string; readonly other: string; readonly text: string },
    relinks: boolean,
  ): string {
    this.version++
    const rows = this.#rows.get(type)!
    const row = rows.get(args.id) ?? this.#all(type)[0]
    for (const aside of side === undefined ? [] : this.#all(side)) aside.text = `${args.text} aside`
    switch (effect) {
      case 'create': {
        const made = this.#create(type, args.text)
        this.#link(type, made)
        return made.id
      }
      case 'remove':
        // Some must stay, or there is nothing left to be asked for.
        if (row && rows.size > 2) rows.delete(row.id)
        else if (row) this.#write(type, row, args.text, false)
        break
      case 'reset':
        for (const each of rows.values()) this.#write(type, each, args.text, false)
        break
      case 'transfer': {
        const other = rows.get(args.other) ?? this.#all(type).at(-1)
        if (row) row.number -= 7
        if (other) other.number += 9
        break
      }
      case 'update':
        if (row) this.#write(type, row, args.text, relinks)
        break
    }
    return row?.id ?? args.id
  }

  #write(type: string, row: Row, text: string, relinks: boolean): void {
    row.text = text
    row.number++
    if (relinks) this.#link(type, row)
  }

  #create(type: string, text: string): Row {
    const made = (this.#made.get(type) ?? 0) + 1
    this.#made.set(type, made)
    const row: Row = { id: `${this.#planOf(type).letter}${made}`, text, number: made * 10, links: new Map() }
    this.#rows.get(type)!.set(row.id, row)
    return row
  }

  /** To the row after the one that it is linked to. */
  #link(type: string, row: Row): void {
    for (const { field, to } of this.#planOf(type).links) {
      const ids = this.ids(to)
      const place = ids.indexOf(row.links.get(field) ?? '')
      row.links.set(field, ids[(place < 0 ? row.number : place + 1) % ids.length] ?? '')
    }
  }

  #all(type: string): readonly Row[] {
    return [...(this.#rows.get(type)?.values() ?? [])]
  }

  #planOf(type: string): EntityPlan {
    return this.#schema.entities.find(({ name }) => name === type)!
  }
}
