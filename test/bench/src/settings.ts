import { hasMethods, objectsIn, type Program } from '../../../docs/src/types-of.ts'

type Type = Parameters<typeof hasMethods>[0]

/** The names of what takes settings: plugins, and whatever is made, attached, connected or imported. */
const TAKES_SETTINGS = /^(?:use|create|attach|connect|import)[A-Z]/

/**
 * The settings that the functions of some entries take, as `function.setting.setting`, those inside of settings too. One
 * that several functions take, or that stands in several places, is told once.
 */
export function settingsOf({ checker, exportsOf }: Program, entries: readonly string[]): string[] {
  const told = new Map<unknown, string>()

  function tell(type: Type, place: string): void {
    for (const [object, suffix] of objectsIn(type, checker)) {
      if (hasMethods(object)) continue
      for (const member of object.getProperties()) {
        const declaration = member.declarations?.[0]
        if (declaration === undefined || told.has(declaration)) continue
        if (declaration.getSourceFile().fileName.includes('/node_modules/')) continue
        told.set(declaration, `${place}${suffix}.${member.name}`)
        tell(checker.getNonNullableType(checker.getTypeOfSymbol(member)), `${place}${suffix}.${member.name}`)
      }
    }
  }

  for (const exported of entries.flatMap(exportsOf)) {
    if (!TAKES_SETTINGS.test(exported.name)) continue
    for (const signature of checker.getTypeOfSymbol(exported).getCallSignatures())
      for (const parameter of signature.getParameters())
        tell(checker.getNonNullableType(checker.getTypeOfSymbol(parameter)), exported.name)
  }
  return [...told.values()]
}
