/** The parts of a zod schema's own definition that are looked at here. Checked against zod 4. */
export interface Definition {
  readonly type?: string
  readonly innerType?: unknown
  readonly getter?: () => unknown
  readonly shape?: Readonly<Record<string, unknown>>
  readonly valueType?: unknown
  readonly element?: unknown
  readonly options?: readonly unknown[]
  /** The values of a literal. */
  readonly values?: readonly unknown[]
}

/** The definition below `optional`, `lazy` and the like. */
export function definitionOf(schema: unknown): Definition | undefined {
  if (schema === null || typeof schema !== 'object' || !('def' in schema)) return undefined
  const definition = schema.def as Definition
  if (definition.getter) return definitionOf(definition.getter())
  return definition.innerType === undefined ? definition : definitionOf(definition.innerType)
}
