import { fork, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A program of `contenders/`, and the request that is sent to it. */
export interface Probe {
  readonly contender: string
  readonly env: Readonly<Record<string, string>>
  readonly query: string
  /** Started first; its address is put into this variable. */
  readonly backend?: { readonly contender: string; readonly variable: string }
}

const WARM_UP = 50

/** A file under `packages`, and how many of its functions run. */
export interface RunFile {
  readonly file: string
  readonly functions: number
}

/** Returns the files whose functions run for one request that was sent before. */
export async function codeThatRuns(
  repo: string,
  { contender, env, query, backend }: Probe,
): Promise<RunFile[]> {
  const started: ChildProcess[] = []

  async function start(
    name: string,
    variables: Readonly<Record<string, string>>,
  ): Promise<[ChildProcess, string]> {
    const probe = fileURLToPath(new URL('coverage-probe.mjs', import.meta.url))
    const child = fork(join(repo, 'test/bench/contenders', `${name}.ts`), {
      cwd: join(repo, 'test'),
      execArgv: ['--conditions=@vinyasa/source', '--import', probe],
      env: { ...process.env, ...variables },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    started.push(child)
    const { url } = await message<{ readonly url: string }>(child, 'url')
    return [child, url]
  }

  try {
    const address = backend ? { [backend.variable]: (await start(backend.contender, {}))[1] } : {}
    const [child, url] = await start(contender, { ...env, ...address })
    const ask = async (): Promise<void> => {
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      })
      const text = await response.text()
      if (!response.ok || text.includes('"errors"')) throw new Error(`${contender} answered ${text}`)
    }
    const take = async (): Promise<RunFile[]> => {
      const answer = message<{ readonly codeThatRan: RunFile[] }>(child, 'codeThatRan')
      child.send('code that ran')
      return (await answer).codeThatRan
    }
    for (let count = 0; count < WARM_UP; count++) await ask()
    await take()
    await ask()
    return await take()
  } finally {
    for (const child of started) child.kill('SIGKILL')
  }
}

function message<T>(child: ChildProcess, key: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = (): void => void child.off('message', onMessage).off('exit', onExit)
    const onExit = (): void => reject(new Error('a program ended before it answered'))
    function onMessage(given: object): void {
      if (!(key in given)) return
      settle()
      resolve(given as T)
    }
    child.on('message', onMessage).on('exit', onExit)
  })
}
