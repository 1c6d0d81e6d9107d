import type { GraphQLSchema } from 'graphql'
import type { CheckFlags, CommandContext } from './context.ts'
import type { LoadedConfig } from '../config/file/load-config.ts'
import { load, openGateway, schemaOf, silentLogger } from './load.ts'
import { ConfigError, firstLine } from '../errors.ts'
import type { SourceHealth } from '../sources/source.ts'

/** `vinyasa check`: builds the gateway, asks every backend for its health, prints a line a finding. */
export async function checkCommand(flags: CheckFlags, context: CommandContext): Promise<void> {
  const loaded = await load(flags, context)
  const { config, file, baseDirectory } = loaded
  const before =
    flags.against === undefined
      ? undefined
      : await (await import('./against/read-old-schema.ts')).readOldSchema(flags.against, context.directory)
  context.print(`config   ${file}`)
  const { undeclaredLines } = await import('../dependencies/report.ts')
  const gateway = await openGateway(loaded, { logger: await silentLogger() })
  /** Prints what clients of an older schema would notice, and gives how many of it breaks them. */
  async function compare(old: GraphQLSchema): Promise<number> {
    const { describeDifference } = await import('./against/report.ts')
    const { breaking, lines } = await describeDifference(old, gateway.schema, config, (changed) =>
      schemaOf(changed, baseDirectory),
    )
    for (const line of lines) context.print(line)
    return breaking
  }
  try {
    const queries = Object.keys(gateway.schema.getQueryType()?.getFields() ?? {}).length
    const mutations = Object.keys(gateway.schema.getMutationType()?.getFields() ?? {}).length
    const subscriptions = Object.keys(gateway.schema.getSubscriptionType()?.getFields() ?? {}).length
    context.print(`schema   ${queries} queries, ${mutations} mutations, ${subscriptions} subscriptions`)
    for (const { source, note } of gateway.notes) context.print(`note     ${source}: ${note}`)
    for (const line of undeclaredLines(gateway.schema, flags.verbose === true))
      context.print(`undeclared ${line}`)
    const invalid = await findInvalidDocuments(loaded, gateway.schema)
    for (const { id, reason } of invalid.slice(0, MAX_INVALID)) context.print(`document ${id}: ${reason}`)
    const broken = before ? await compare(before) : 0
    const report = await gateway.health(AbortSignal.timeout(1500))
    for (const source of report) {
      context.print(
        `source   ${source.name}: ${source.healthy ? 'ok' : `${stateOf(source)} (${firstLine(source.reason ?? 'no response')})`}`,
      )
    }
    const down = report.filter((source) => !source.healthy)
    const wrong = down.map((source) => `${source.name}: ${stateOf(source)}; ${isAway(source) ? START : MEND}`)
    if (invalid.length > 0)
      wrong.push(
        `persistedDocuments: ${invalid.length === 1 ? '1 document is' : `${invalid.length} documents are`} invalid for the schema; correct or regenerate the documents`,
      )
    if (broken > 0)
      wrong.push(
        `--against ${flags.against}: ${broken} breaking ${broken === 1 ? 'change' : 'changes'}; apply the listed settings, if any, or tell the owners of the clients about the changes`,
      )
    if (wrong.length > 0) throw new ConfigError(wrong.join(', '))
  } finally {
    await gateway.close()
  }
}

/**
 * Returns the documents that clients would be refused, each with its first mistake. A document of a folder is
 * listed by its name alone.
 */
async function findInvalidDocuments({ config, baseDirectory }: LoadedConfig, schema: GraphQLSchema) {
  const { loadDocuments } = await import('../access/documents/load-documents.ts')
  const { firstMistake } = await import('../texts/first-mistake.ts')
  const { from = [] } = config.persistedDocuments ?? {}
  const reasons = new Map<string, string | undefined>()
  const invalid: { readonly id: string; readonly reason: string }[] = []
  for (const [id, text] of await loadDocuments(from, baseDirectory)) {
    // The same under its hash.
    if (reasons.has(text)) continue
    const reason = firstMistake(text, schema)
    reasons.set(text, reason)
    if (reason !== undefined) invalid.push({ id, reason })
  }
  return invalid
}

/** Registered documents that are named of those that nothing answers. */
const MAX_INVALID = 20

const START = 'start the backend, or correct its address'
const MEND = 'fix the problem that the source line above shows'

function stateOf(source: SourceHealth): string {
  return isAway(source) ? 'not reachable' : 'not healthy'
}

/** Nothing listens there, the name leads nowhere, or nothing came back in time. */
function isAway({ reason = 'no response' }: SourceHealth): boolean {
  return /E(CONNREFUSED|NOTFOUND|AI_AGAIN|NOENT|HOSTUNREACH|NETUNREACH|TIMEDOUT)|no (?:response|reply)|did not (?:respond|start HTTP)|bad port/.test(
    reason,
  )
}
