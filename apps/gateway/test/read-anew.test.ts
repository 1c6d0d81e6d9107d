import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { importModule } from '../src/config/file/import-module.ts'

const KINDS = ['mjs', 'js', 'ts', 'mts']

it.each(KINDS.flatMap((config) => KINDS.map((part) => [config, part] as const)))(
  'a config.%s and the part.%s that it imports are read anew',
  async (config, part) => {
    const folder = mkdtempSync(join(tmpdir(), 'vinyasa-read-anew-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
    write('package.json', '{ "type": "module" }')
    const file = join(folder, `gateway.config.${config}`)
    const read = async (of: number, deep: number, late: number): Promise<unknown> => {
      write(
        `gateway.config.${config}`,
        `import { deep } from './part.${part}'\nexport default { of: ${of}, deep, late: (await import('./late.${part}')).late }`,
      )
      write(`part.${part}`, `export { deep } from './deeper.${part}'`)
      write(`deeper.${part}`, `export const deep = ${deep}`)
      write(`late.${part}`, `export const late = ${late}`)
      return (await importModule(file)).value
    }
    expect(await read(1, 1, 1)).toEqual({ of: 1, deep: 1, late: 1 })
    expect(await read(2, 1, 1)).toEqual({ of: 2, deep: 1, late: 1 })
    expect(await read(2, 2, 1)).toEqual({ of: 2, deep: 2, late: 1 })
    expect(await read(2, 2, 2)).toEqual({ of: 2, deep: 2, late: 2 })
  },
)

it.each(
  KINDS.flatMap((config) => [
    [config, 'part.cjs', (value: number) => `module.exports = { value: ${value} }`] as const,
    [config, 'part.json', (value: number) => `{ "value": ${value} }`] as const,
  ]),
)('a config.%s and the %s that it imports are read anew', async (config, part, textOf) => {
  const folder = mkdtempSync(join(tmpdir(), 'vinyasa-read-anew-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, `gateway.config.${config}`)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const attributes = part.endsWith('json') ? " with { type: 'json' }" : ''
  writeFileSync(file, `import part from './${part}'${attributes}\nexport default { value: part.value }`)
  for (const value of [1, 2]) {
    writeFileSync(join(folder, part), textOf(value))
    expect((await importModule(file)).value).toEqual({ value })
  }
})

it.each(KINDS)(
  'a package that a config.%s imports by its path stays as it is, with what it imports',
  async (config) => {
    const folder = mkdtempSync(join(tmpdir(), 'vinyasa-read-anew-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const pack = (place: string, text: string): void => {
      mkdirSync(join(folder, place), { recursive: true })
      writeFileSync(join(folder, place, 'package.json'), '{ "type": "module", "exports": "./index.js" }')
      writeFileSync(join(folder, place, 'index.js'), text)
    }
    // As pnpm lays packages out: what one imports is beside its real folder.
    pack('store/one/node_modules/one', `export { two } from 'two'`)
    pack('store/one/node_modules/two', `export const two = 2`)
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(join(folder, 'store/one/node_modules/one'), join(folder, 'node_modules/one'))
    const file = join(folder, `gateway.config.${config}`)
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    for (const value of [1, 2]) {
      writeFileSync(
        file,
        `import { two } from './node_modules/one/index.js'\nexport default { value: ${value}, two }`,
      )
      const { value: read, files } = await importModule(file)
      expect(read).toEqual({ value, two: 2 })
      expect(files).toEqual([file])
    }
  },
)

it.each(KINDS)(
  'a part that is linked to beside a config.%s is read anew, with what it imports',
  async (config) => {
    const folder = mkdtempSync(join(tmpdir(), 'vinyasa-read-anew-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    mkdirSync(join(folder, 'elsewhere/node_modules/two'), { recursive: true })
    mkdirSync(join(folder, 'here'))
    writeFileSync(
      join(folder, 'elsewhere/node_modules/two/package.json'),
      '{ "type": "module", "exports": "./index.js" }',
    )
    writeFileSync(join(folder, 'elsewhere/node_modules/two/index.js'), 'export const two = 2')
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    symlinkSync(join(folder, `elsewhere/part.${config}`), join(folder, `here/part.${config}`))
    const file = join(folder, `here/gateway.config.${config}`)
    writeFileSync(file, `export { default } from './part.${config}'`)
    for (const value of [1, 2]) {
      writeFileSync(
        join(folder, `elsewhere/part.${config}`),
        `import { two } from 'two'\nexport default { value: ${value}, two }`,
      )
      expect((await importModule(file)).value).toEqual({ value, two: 2 })
    }
  },
)

it('a config that is in a package itself, and its parts, are read anew', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vinyasa-read-anew-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const own = join(folder, 'node_modules/config')
  mkdirSync(own, { recursive: true })
  writeFileSync(join(own, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(own, 'gateway.config.mjs'), `export { default } from './part.mjs'`)
  for (const value of [1, 2]) {
    writeFileSync(join(own, 'part.mjs'), `export default ${value}`)
    expect((await importModule(join(own, 'gateway.config.mjs'))).value).toBe(value)
  }
})
