import { isRecord } from '@vinyasa/core'
import { Kind, type TypeNode } from 'graphql'
import { parseTypeText } from './fields.ts'
import type { Argument } from './arguments.ts'
import type { InputDefinition, TypeDefinitions } from './type-definitions.ts'
import { badInput } from '../errors.ts'
import { toSentFile } from '../bodies/file.ts'
import type { Args } from '../templates/template.ts'

/** Makes of a value as a client gave it the JSON that the API wants. */
type ToWire = (value: unknown) => unknown

/** {@link ToWire} of all arguments; undefined where none of them is other than what is sent. */
export function compileWireValues(
  args: ReadonlyMap<string, Argument>,
  types: TypeDefinitions,
): ((values: Args) => Args) | undefined {
  const converterOf = createConverters(types)
  const converted = [...args].flatMap(([name, { text }]) => {
    const toWire = converterOf(text)
    return toWire ? [[name, toWire] as const] : []
  })
  if (converted.length === 0) return undefined
  return (values) => {
    const sent: Record<string, unknown> = { ...values }
    for (const [name, toWire] of converted) if (Object.hasOwn(sent, name)) sent[name] = toWire(sent[name])
    return sent
  }
}

/** How values of a type, which is written in GraphQL's syntax, are converted; undefined: they are sent as they are. */
function createConverters(types: TypeDefinitions): (text: string) => ToWire | undefined {
  const byName = new Map<string, ToWire>()

  function ofText(text: string): ToWire | undefined {
    return ofNode(parseTypeText(text))
  }

  function ofNode(node: TypeNode): ToWire | undefined {
    switch (node.kind) {
      case Kind.NON_NULL_TYPE:
        return ofNode(node.type)
      case Kind.LIST_TYPE:
        return ofList(node.type)
      case Kind.NAMED_TYPE:
        return ofNamed(node.name.value)
    }
  }

  function ofList(item: TypeNode): ToWire | undefined {
    const named = item.kind === Kind.NON_NULL_TYPE ? item.type : item
    const definition = named.kind === Kind.NAMED_TYPE ? definitionOf(named.name.value) : undefined
    if (definition?.kind === 'input entry') {
      const value = ofText(definition.value)
      return (given) => (Array.isArray(given) ? fromEntries(given as readonly unknown[], value) : given)
    }
    const toWire = ofNode(item)
    if (!toWire) return undefined
    return (given) => (Array.isArray(given) ? given.map((one: unknown) => toWire(one)) : given)
  }

  function definitionOf(name: string) {
    return Object.hasOwn(types, name) ? types[name] : undefined
  }

  function ofNamed(name: string): ToWire | undefined {
    const definition = definitionOf(name)
    if (name === 'Upload' && !definition) return toSentFile
    if (definition?.kind !== 'input') return undefined
    const known = byName.get(name)
    if (known) return known
    // A type may refer to itself: its own converter is there before it is compiled, on first use.
    let compiled: ToWire | undefined
    const toWire: ToWire = (value) => (compiled ??= ofInput(definition))(value)
    byName.set(name, toWire)
    return toWire
  }

  function ofInput({ fields, isOneOf = false }: InputDefinition): ToWire {
    const members = new Map(
      Object.entries(fields).map(([name, { key = name, type, besides }]) => [
        name,
        { key, toWire: ofText(type), besides: besides && new Set(besides) },
      ]),
    )
    const nulls = Object.entries(fields).flatMap(([name, { key = name, default: given }]) =>
      given === null ? [key] : [],
    )
    return (given) => {
      if (!isRecord(given)) return given
      const sent: Record<string, unknown> = {}
      // A later value replaces the null.
      for (const key of nulls) setOwn(sent, key, null)
      for (const [name, value] of Object.entries(given)) {
        const { key, toWire, besides } = members.get(name) ?? { key: name }
        const converted = toWire && value !== null && value !== undefined ? toWire(value) : value
        if (isOneOf) return converted
        if (besides) setOthers(sent, name, converted, besides)
        else setOwn(sent, key, converted)
      }
      return sent
    }
  }

  return ofText
}

function fromEntries(entries: readonly unknown[], toWire: ToWire | undefined): Record<string, unknown> {
  const sent: Record<string, unknown> = {}
  for (const entry of entries) {
    if (typeof entry !== 'object' || entry === null) continue
    const { key, value } = entry as { key?: unknown; value?: unknown }
    if (typeof key === 'string')
      setOwn(sent, key, toWire && value !== null && value !== undefined ? toWire(value) : value)
  }
  return sent
}

/** Sets members that have no fields of their own. */
function setOthers(
  sent: Record<string, unknown>,
  name: string,
  others: unknown,
  besides: ReadonlySet<string>,
): void {
  if (others === null || others === undefined) return
  if (!isRecord(others)) throw badInput(`"${name}" must be an object.`)
  for (const [key, value] of Object.entries(others)) {
    if (besides.has(key)) throw badInput(`"${name}" must not contain "${key}", which is a separate field.`)
    setOwn(sent, key, value)
  }
}

/** A key of the API's own choosing may be `__proto__`. */
function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
}
