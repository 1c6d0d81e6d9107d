import ts from 'typescript'
import { cell, codeCell, isOpaque, meaningOf, objectsIn, readTypes, type Program } from './types-of.ts'

/** One setting of a config file. */
export interface Setting {
  /** Such as `rest.*.endpoints[].name`. `*` is a name that the user chooses. */
  readonly path: string
  readonly type: string
  readonly isRequired: boolean
  readonly default: string
  readonly meaning: string
}

export interface Section {
  /** Path of the object. It is empty for the config itself. */
  readonly path: string
  readonly meaning: string
  readonly settings: readonly Setting[]
}

/** The file that exports `GatewayConfig`. */
export const CONFIG_TYPES = 'apps/gateway/src/config/types.ts'

/** Returns every object of the config with its settings, read from the types and their TSDoc. */
export function readConfigSections({ checker, exportsOf }: Program = readTypes([CONFIG_TYPES])): Section[] {
  const config = exportsOf(CONFIG_TYPES).find(({ name }) => name === 'GatewayConfig')
  if (!config) throw new Error(`${CONFIG_TYPES} has no GatewayConfig`)
  const sections: Section[] = []

  function readObject(type: ts.Type, path: string, meaning: string, above: readonly ts.Type[]): void {
    const settings: Setting[] = []
    const below: (() => void)[] = []
    for (const property of type.getProperties()) {
      const at = path === '' ? property.name : `${path}.${property.name}`
      const given = withoutUndefined(typeOf(property), checker)
      const ofType = meaningOfType(given)
      const documented = meaningOf(property, checker) || ofType
      const said = splitDefault(documented)
      settings.push({
        path: at,
        type: nameOf(given),
        isRequired: (property.flags & ts.SymbolFlags.Optional) === 0,
        default: said.default,
        meaning: said.meaning || ofType,
      })
      // Each type is described once, even if the setting accepts both an object and a list, or if types are recursive.
      const told = new Set([...above, type])
      for (const [inner, suffix] of objectsIn(given, checker)) {
        if (told.has(inner)) continue
        told.add(inner)
        below.push(() => readObject(inner, `${at}${suffix}`, documented, [...above, type]))
      }
    }
    const known = sections.findIndex((section) => section.path === path)
    if (known === -1) sections.push({ path, meaning, settings })
    else sections[known] = eitherOf(sections[known] as Section, settings)
    for (const read of below) read()
  }

  /** Returns the TSDoc of the type, for settings without TSDoc. */
  function meaningOfType(type: ts.Type): string {
    const parts = (type.isUnion() ? type.types : [type]).flatMap((one) => {
      const symbol = one.aliasSymbol ?? one.getSymbol()
      return symbol && !isOpaque(one, checker) && !checker.isArrayLikeType(one)
        ? [meaningOf(symbol, checker)]
        : []
    })
    return parts.find((text) => text !== '') ?? ''
  }

  function typeOf(property: ts.Symbol): ts.Type {
    return checker.getTypeOfSymbol(property)
  }

  function nameOf(type: ts.Type): string {
    // Types of libraries are not expanded, except for helpers of TypeScript such as `Readonly`.
    const alias = type.aliasSymbol?.declarations?.[0]?.getSourceFile().fileName
    const isLibrary = alias?.includes('node_modules/') === true && !alias.includes('/typescript/lib/')
    if (isLibrary) return type.aliasSymbol?.name ?? ''
    const names = (type.isUnion() ? type.types : [type]).map((one) => {
      if (one.getCallSignatures().length > 0) return 'function'
      if (checker.isArrayLikeType(one)) {
        const item = checker.getIndexTypeOfType(one, ts.IndexKind.Number)
        return item ? `list of ${nameOf(item).replace(/.* \| .*/, '($&)')}` : 'list'
      }
      if ((one.flags & ts.TypeFlags.Object) !== 0 && !isOpaque(one, checker)) {
        const value = checker.getIndexTypeOfType(one, ts.IndexKind.String)
        return value
          ? `${nameOf(withoutUndefined(value, checker)).replace(/.* \| .*/, '($&)')} by name`
          : 'object'
      }
      const name = checker.typeToString(one, undefined, ts.TypeFormatFlags.NoTruncation)
      return name.replace(/"/g, "'").replace('<ArrayBufferLike>', '')
    })
    const all = [...new Set(names)].join(' | ')
    return all.replace(/\bfalse \| true\b|\btrue \| false\b/, 'boolean')
  }

  readObject(checker.getDeclaredTypeOfSymbol(config), '', '', [])
  return sections
}

/** Merges the settings of two kinds of an object. */
function eitherOf(section: Section, others: readonly Setting[]): Section {
  const settings = section.settings.map((setting) => {
    const other = others.find(({ path }) => path === setting.path)
    if (!other) return setting
    const type = [...new Set([...setting.type.split(' | '), ...other.type.split(' | ')])].join(' | ')
    return { ...setting, type }
  })
  const known = new Set(section.settings.map(({ path }) => path))
  return { ...section, settings: [...settings, ...others.filter(({ path }) => !known.has(path))] }
}

function withoutUndefined(type: ts.Type, checker: ts.TypeChecker): ts.Type {
  return checker.getNonNullableType(type)
}

/** Splits a sentence such as `Default 10.` from the meaning. */
function splitDefault(text: string): Pick<Setting, 'default' | 'meaning'> {
  const [whole, before = '', value = '', rest = ''] =
    /^(.*?)\bDefaults?:? ((?:`[^`]*`|[^`.;(]|\.(?=\S))+)[.;]?(.*)$/s.exec(text) ?? []
  if (whole === undefined) return { default: '', meaning: text }
  // The preset follows the default: "Default true; production false."
  const [, preset = '', after = ''] = /^\s*(production [^.;,]*(?:,\d+)*)?[.,;]?\s*(.*)$/s.exec(rest) ?? []
  const said = `${before.trim()} ${after.charAt(0).toUpperCase()}${after.slice(1)}`.trim()
  return { default: [value.trim(), preset].filter(Boolean).join('; '), meaning: said }
}

/** Returns the page. Equal objects have one section, at the path of the first one. */
export function configReference(sections: readonly Section[] = readConfigSections()): string {
  const firsts = firstOfEqual(sections)
  const told = sections.filter((section) => firsts.get(section) === section)
  const parts = told.map(({ path, meaning, settings }) => {
    const rows = settings.map((setting) => {
      const name = setting.path.slice(path === '' ? 0 : path.length + 1)
      const standard = setting.isRequired ? '**required**' : cell(setting.default)
      const deeper = sections.find((section) => section.path.replace(/(?:\.\*|\[\])+$/, '') === setting.path)
      const first = deeper && firsts.get(deeper)
      const shown = first ? `[\`${name}\`](#${anchorOf(first.path)})` : `\`${name}\``
      return `| ${shown} | ${codeCell(setting.type)} | ${standard} | ${cell(setting.meaning)} |`
    })
    const heading = path === '' ? '## The config' : `## ${pathShown(path)} {#${anchorOf(path)}}`
    const said = path === '' ? [] : [cell(meaning), '']
    return [
      heading,
      '',
      ...said,
      '| setting | type | default | meaning |',
      '| --- | --- | --- | --- |',
      ...rows,
    ].join('\n')
  })
  return `${INTRODUCTION}\n${parts.join('\n\n')}\n`
}

/** Returns, for each section, the first section with the same content, including the sections below it. */
export function firstOfEqual(sections: readonly Section[]): ReadonlyMap<Section, Section> {
  const firsts = new Map<string, Section>()
  return new Map(
    sections.map((section) => {
      const text = textOf(section, sections)
      if (!firsts.has(text)) firsts.set(text, section)
      return [section, firsts.get(text) as Section]
    }),
  )
}

/** Returns the content of a section and of the sections below it, with paths relative to the section. */
function textOf({ path, settings }: Section, sections: readonly Section[]): string {
  const within = (one: string): string => one.slice(path.length)
  const below = sections.filter(
    (one) => path !== '' && /^[.[]/.test(within(one.path)) && one.path.startsWith(path),
  )
  const told = (all: readonly Setting[]): object[] => all.map((one) => ({ ...one, path: within(one.path) }))
  return JSON.stringify([told(settings), below.map((one) => [within(one.path), told(one.settings)])])
}

const pathShown = (path: string): string => `\`${path.replace(/\.\*/g, '.‹name›')}\``

function anchorOf(path: string): string {
  return path.replace(/\.\*/g, '-each').replace(/\[\]/g, '-item').replace(/\./g, '-').toLowerCase()
}

const INTRODUCTION = `# Config reference

This page lists every setting of \`gateway.config.ts\`, \`.yaml\` and \`.json\`. It is generated from the types of the
gateway. \`vinyasa schema\` prints a JSON schema of the same settings, for editors.

- **Names:** YAML and JSON configs can also use snake case, such as \`max_depth\`.
- **Durations:** YAML and JSON configs can set \`timeout\`, \`default_ttl\`, \`stale_while_revalidate\`, \`initial_backoff\` and
  \`max_backoff\` with a unit: \`timeout: 30s\`. The units are \`ms\`, \`s\`, \`m\` and \`h\`. Numbers without a unit are seconds.
- **Code:** functions, and objects of libraries, require a config in TypeScript or JavaScript.
`
