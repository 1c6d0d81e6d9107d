import { Command, CommanderError, InvalidArgumentError } from 'commander'
import type { CheckFlags, CommandContext, PresetFlag, StartFlags } from './commands/context.ts'
import type { InitFlags } from './commands/init.ts'
import { toPort } from './commands/port.ts'
import { ConfigError } from './errors.ts'
import { printable } from './texts/escapes.ts'
import { version } from './version.ts'

/** Runs one command line and resolves to the exit code: 0, or 1 with one line on standard error. */
export async function run(args: readonly string[], given: CommandContext): Promise<number> {
  const { ask } = given
  const context: CommandContext = {
    ...given,
    ask: ask && ((question) => ask(printable(question))),
    print: (text) => given.print(printable(text)),
    printError: (text) => given.printError(printable(text)),
  }
  try {
    let exitCode = 0
    await createProgram(context, (code) => (exitCode = code)).parseAsync(args, { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode
    if (error instanceof ConfigError) {
      for (const line of error.message.split('\n')) context.printError(`vinyasa: ${line}`)
      return 1
    }
    throw error
  }
}

const PRESET = [
  '--preset <name>',
  'development or production (default: preset in the config, or development)',
  toPreset,
] as const

/** Each command is loaded when it is run: `--help` and a mistyped option answer without the gateway. */
function createProgram(context: CommandContext, exitWith: (code: number) => void): Command {
  const program = new Command('vinyasa')
    .description('One GraphQL API in front of gRPC services and REST APIs')
    .version(version())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.print(text.trimEnd()),
      writeErr: (text) => context.printError(text.trimEnd()),
    })

  program
    .command('start')
    .description('start the gateway from a config file')
    .option('-c, --config <file>', 'config file (default: gateway.config.ts, .js, .yaml or .json)')
    .option(
      '-p, --port <number>',
      'port to listen on, 0 for any free port (default: server.port in the config, the variable PORT, or 4000)',
      portOption,
    )
    .option('--host <address>', 'address to listen on (default: server.host in the config, or 127.0.0.1)')
    .option(...PRESET)
    .option('-w, --watch', 'reload when the config, or a file that the config uses, changes')
    .option('--workers <number>', 'number of processes that share the port (default: 1)', toWorkers)
    .action(async ({ workers = 1, ...options }: StartFlags) => {
      if (workers > 1 && context.runWorkers) exitWith(await context.runWorkers(workers))
      else await (await import('./commands/start.ts')).startCommand(options, context)
    })

  program
    .command('init')
    .description(
      'write a config for .proto files, a descriptor set, an OpenAPI document or a gRPC server with reflection',
    )
    .argument(
      '[files...]',
      'the .proto files, a descriptor set, an OpenAPI document or its URL, or the address of a gRPC server (prompts if omitted)',
    )
    .option('--endpoint <address>', 'host:port of the gRPC server, or base URL of the REST API')
    .option('--from <file>', 'config file or project folder of another gateway to convert')
    .action(async (files: readonly string[], options: InitFlags) =>
      (await import('./commands/init.ts')).initCommand(files, options, context),
    )

  program
    .command('check')
    .description('load the config, connect to every backend and report problems')
    .option('-c, --config <file>', 'config file')
    .option(...PRESET)
    .option('--against <file>', 'compare the schema with an older SDL file and list breaking changes')
    .option('--verbose', 'list every field with undeclared dependencies')
    .action(async (options: CheckFlags) =>
      (await import('./commands/check.ts')).checkCommand(options, context),
    )

  program
    .command('print-schema')
    .description('print the GraphQL schema that the gateway serves')
    .option('-c, --config <file>', 'config file')
    .option(...PRESET)
    .action(async (options: PresetFlag) =>
      (await import('./commands/print-schema.ts')).printSchemaCommand(options, context),
    )

  program
    .command('schema')
    .description('print the JSON Schema of config files, for editors')
    .action(async () => {
      const { configJsonSchema } = await import('./config/json-schema.ts')
      context.print(JSON.stringify(configJsonSchema(), null, 2))
    })

  return program
}

function portOption(text: string): number {
  const port = toPort(text)
  if (port === undefined) throw new InvalidArgumentError('Expected a whole number from 0 to 65535.')
  return port
}

function toWorkers(text: string): number {
  const workers = Number(text)
  if (!Number.isInteger(workers) || workers < 1 || workers > 128) {
    throw new InvalidArgumentError('Expected a whole number from 1 to 128.')
  }
  return workers
}

function toPreset(text: string): 'development' | 'production' {
  if (text !== 'development' && text !== 'production') {
    throw new InvalidArgumentError('Expected development or production.')
  }
  return text
}
