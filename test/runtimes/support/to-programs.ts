import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { bin } from './serve.ts'

const execute = promisify(execFile)

/** JavaScript of a README's TypeScript. */
export async function toJavaScript(installed: string, code: string): Promise<string> {
  const running = execute(bin(installed, 'esbuild'), ['--loader=ts', '--format=esm'])
  running.child.stdin?.end(code)
  return (await running).stdout
}

/** The example, on the port that the environment names. */
export function toProgram(code: string): string {
  const port = 'listen(Number(process.env.PORT))'
  const listening = code.replace(/^(.*)\/\/ server\.listen\(4000\)$/m, '$1\nserver.listen(4000)')
  if (!listening.includes('listen(4000)'))
    throw new Error(`The example does not listen on port 4000:\n${code}`)
  return listening.replace('listen(4000)', port)
}

/** The example without its HTTP server: a module whose `yoga` is what it would have served. */
export function toModule(code: string): string {
  const makes = /^(?:export )?(?:const server = )?createServer\((.*?)\)(?:\.listen\(4000\))?(?: \/\/.*)?$/m
  if (!makes.test(code)) throw new Error(`The example makes no server:\n${code}`)
  const module = code
    .replace(makes, 'const served = $1')
    .replace(/^import .* from '(?:node:http|@vinyasa\/live-query\/ws)'\n/gm, '')
    .replace(/^(?:attachLiveServer|server\.listen)\(.*\n/gm, '')
    .replace(/^export (?=const)/gm, '')
  return `${module}\nexport { served as yoga }\n`
}
