import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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
