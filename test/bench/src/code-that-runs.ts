import { fork, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connectRawWebSocket } from '@vinyasa/test-kit'
import type { LiveCommand } from '../contenders/live-feed.ts'

/** A program of `contenders/`, and the query that is sent to it. */
export interface Probe {
  readonly contender: string
  readonly env: Readonly<Record<string, string>>
  readonly query: string
  /** Whether the query is live: the code of one update is counted, not the code of a request. */
  readonly isLive?: boolean
  /** Started first; its address is put into this variable. */
  readonly backend?: { readonly contender: string; readonly variable: string }
}

const WARM_UP = 50

/** A file under `packages`, and how many of its functions run. */
export interface RunFile {
  readonly file: string
  readonly functions: number
}

/** Returns the files whose functions run for one request that was sent before, or for one update of a live query. */
export async function codeThatRuns(
  repo: string,
  { contender, env, query, isLive, backend }: Probe,
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
    await using updates = isLive ? await followUpdates(child, url, query) : undefined
    const post = async (): Promise<void> => {
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      })
      const text = await response.text()
      if (!response.ok || text.includes('"errors"')) throw new Error(`${contender} answered ${text}`)
    }
    const ask = updates ? updates.next : post
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

interface Updates extends AsyncDisposable {
  /** Changes the data, and resolves when the client has received the update. */
  next(): Promise<void>
}

async function followUpdates(child: ChildProcess, url: string, query: string): Promise<Updates> {
  const socket = await connectRawWebSocket(url)
  socket.sendJson({ type: 'connection_init' })
  await socket.nextJson()
  socket.sendJson({ id: '1', type: 'subscribe', payload: { query } })
  await socket.nextJson()
  let n = 0
  return {
    async next() {
      child.send({ type: 'event', n: ++n } satisfies LiveCommand)
      const { type, payload } = await socket.nextJson()
      if (type !== 'next' || payload.data?.feed.n !== n)
        throw new Error(`Expected update ${n}, got ${JSON.stringify(payload)}`)
    },
    [Symbol.asyncDispose]: async () => socket.terminate(),
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
