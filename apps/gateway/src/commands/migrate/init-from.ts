import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Document, isMap, isScalar, visit } from 'yaml'
import { loadConfig } from '../../config/file/load-config.ts'
import { ConfigError, messageOf } from '../../errors.ts'
import { commentOf } from '../../texts/escapes.ts'
import { describeUntried, type Mended } from '../against/mend.ts'
import { withSettings } from '../against/settings.ts'
import type { CommandContext } from '../context.ts'
import { schemaOf } from '../load.ts'
import type { Migration } from './migration.ts'
import { readOldConfig } from './read-old-config.ts'

/** `vinyasa init --from`: writes the config that an old one of another gateway stands for, and says what it does not say. */
export async function initFrom(file: string, context: CommandContext): Promise<void> {
  const { directory } = context
  const migration = await readOldConfig(resolve(directory, file), file, directory)
  const { from, config, notes } = migration
  if (config['rest'] === undefined && config['grpc'] === undefined)
    throw new ConfigError(
      [`--from ${file}: found no field that can be converted`, ...notes.map(({ text }) => text)].join('; '),
    )
  const target = join(directory, 'gateway.config.yaml')
  const left = notes
    .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))
    .map(({ line, text, file: of = file }) => `${of}${line === undefined ? '' : `:${line}`}: ${text}`)
  const head = [`Converted from ${file}, a config of ${from}.`, ...left]
  await writeFile(target, toYaml(config, head), { flag: 'wx' })
  const compared = await compare(migration, context).catch((error: unknown) => {
    if (error instanceof ConfigError) return error
    throw error
  })
  if (compared !== undefined && !(compared instanceof ConfigError)) {
    const settings = compared.mends.map(({ setting }) => setting)
    if (settings.length > 0) await writeFile(target, toYaml(withSettings(config, settings), head))
  }
  context.print(`wrote    ${target}`)
  for (const line of left) context.print(`skipped  ${line}`)
  for (const line of describe(compared)) context.print(line)
  context.print('next     vinyasa check    connects to the backends and reports problems')
  context.print('         vinyasa start    serves it')
}

/** What clients of the old schema would notice, and the names that they keep; undefined: nobody says what they know. */
async function compare({ schema }: Migration, context: CommandContext): Promise<Mended | undefined> {
  if (!schema) return undefined
  const { directory, environment } = context
  const { config, baseDirectory } = await loadConfig({ file: 'gateway.config.yaml', directory, environment })
  const { findMends } = await import('../against/mend.ts')
  return findMends(schema, await schemaOf(config, baseDirectory), config, (changed) =>
    schemaOf(changed, baseDirectory),
  )
}

function describe(compared: Mended | ConfigError | undefined): readonly string[] {
  if (compared === undefined) return []
  if (compared instanceof ConfigError)
    return [
      ...messageOf(compared)
        .split('\n')
        .map((line) => `wrong    ${line}`),
      '         fix these problems, then run vinyasa check --against old.graphql to compare with the schema of the old gateway',
    ]
  const { left } = compared
  const breaking = left.filter(({ level }) => level === 'breaking').length
  return [
    `clients  ${breaking} breaking, ${left.length - breaking} dangerous`,
    ...left.map(({ level, message }) => `${level} ${message}`),
    ...describeUntried(compared),
  ]
}

/** YAML with short maps on one line, below a comment. */
function toYaml(config: object, head: readonly string[]): string {
  const document = new Document(config)
  visit(document, {
    Map(_, node) {
      const isShort = node.items.every(
        ({ value }) => isScalar(value) || (isMap(value) && value.items.length === 0),
      )
      if (isShort && node.items.length > 0 && JSON.stringify(node).length < 90) node.flow = true
    },
  })
  return commentOf(head) + document.toString({ lineWidth: 0 })
}
