import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Host, Start } from './host.ts'
import { type Arguments, bin, folderFor, run, runScript, serve } from './serve.ts'
import { toJavaScript, toModule, toProgram } from './to-programs.ts'

export type Command = (installed: string) => Arguments

/** The README's example as it stands, on `node:http`. */
export function runtime(name: string, command: Command): Host {
  return {
    name,
    sockets: true,
    async start(start) {
      const folder = folderFor(start, name)
      const program = await toJavaScript(start.installed, toProgram(codeOf(start)))
      writeFileSync(join(folder, 'main.js'), program)
      return serve(start, folder, [...command(start.installed), 'main.js'])
    },
  }
}

/** The same, bundled, where there is no `node_modules`. `build` gets the name of the file to bundle as its last argument. */
export function bundle(name: string, build: Command): Host {
  return {
    name,
    sockets: true,
    async start(start) {
      const folder = folderFor(start, name)
      writeFileSync(join(folder, 'main.ts'), toProgram(codeOf(start)))
      const alone = mkdtempSync(join(tmpdir(), 'vinyasa-bundle-'))
      start.disposables.use(() => rmSync(alone, { recursive: true }))
      await run(folder, [...build(start.installed), 'main.ts'])
      // Whatever was built, and what the example reads.
      for (const file of readdirSync(folder)) {
        if (file !== 'main.ts') cpSync(join(folder, file), join(alone, file), { recursive: true })
      }
      writeFileSync(join(alone, 'package.json'), '{"type":"module"}')
      return serve(start, alone, [process.execPath, 'main.js'])
    },
  }
}

/** A folder of `examples/`, with the plugin's example in place of its `yoga.js`. */
export function example(
  name: string,
  command: Command,
  more: Partial<Host> & { readonly server?: string } = {},
): Host {
  const { server = 'server.js', ...rest } = more
  return {
    name: `examples/${name}/${server}`,
    example: name,
    async start(start) {
      const folder = await exampleFolder(start, name, `${name}-${server}`)
      return serve(start, folder, [...command(start.installed), server])
    },
    ...rest,
  }
}

/** A folder of `examples/` that its own script builds for workerd. */
export function worker(name: string, more: Partial<Host>): Host {
  return {
    ...more,
    name: `examples/${name}/server.js`,
    example: name,
    async start(start) {
      const folder = await exampleFolder(start, name, name)
      await runScript(start.installed, folder, 'build')
      return serve(start, folder, [
        bin(start.installed, 'workerd'),
        'serve',
        'workerd.capnp',
        '--socket-addr=http=127.0.0.1:$PORT',
      ])
    },
  }
}

/**
 * A folder of `examples/` that Next builds: once as it stands, and once with all plugins' examples in it, as a build
 * takes longest. Which one answers is said by `EXAMPLE`.
 */
export function next(name: string, more: Partial<Host>): Host {
  const all = (installed: string): string => join(installed, 'cells', name, 'all')
  return {
    ...more,
    name: `examples/${name}`,
    example: name,
    async prepare([...starts]) {
      const [{ installed }] = starts as [Start]
      const folder = all(installed)
      cpSync(join(installed, 'examples', name), folder, { recursive: true })
      mkdirSync(join(folder, 'yogas'), { recursive: true })
      const choices: string[] = []
      for (const { plugin, code } of starts) {
        if (code === undefined) continue
        const module = await toJavaScript(installed, toModule(code))
        writeFileSync(join(folder, 'yogas', `${plugin.name}.js`), module)
        for (const [file, text] of Object.entries(plugin.files ?? {})) writeFileSync(join(folder, file), text)
        choices.push(`'${plugin.name}': () => import('./yogas/${plugin.name}.js'),`)
      }
      const chosen = `const { yoga } = await ({ ${choices.join('\n')} })[process.env.EXAMPLE]()`
      writeFileSync(join(folder, 'yoga.js'), `${chosen}\nexport { yoga }\n`)
      await runScript(installed, folder, 'build', { EXAMPLE: starts.at(-1)!.plugin.name })
    },
    async start(start) {
      const { installed, plugin, code } = start
      const program: Arguments = [bin(installed, 'next'), 'start']
      const env = { NODE_ENV: 'production', EXAMPLE: plugin.name }
      if (code !== undefined) return serve(start, all(installed), program, env)
      const folder = await exampleFolder(start, name, name)
      await runScript(installed, folder, 'build')
      return serve(start, folder, program, env)
    },
  }
}

/** A copy of a folder of `examples/`, with the plugin's example in place of its `yoga.js`. */
async function exampleFolder(start: Start, name: string, host: string): Promise<string> {
  const folder = folderFor(start, host)
  cpSync(join(start.installed, 'examples', name), folder, { recursive: true })
  if (start.code !== undefined) {
    writeFileSync(join(folder, 'yoga.js'), await toJavaScript(start.installed, toModule(start.code)))
  }
  return folder
}

function codeOf({ code }: Start): string {
  if (code === undefined) throw new Error('Only a folder of `examples/` has an example of its own')
  return code
}
