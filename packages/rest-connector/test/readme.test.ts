import { readFileSync } from 'node:fs'
import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import { createYoga } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import * as vinyasa from '../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const [example = '', upload = '', join = ''] = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(
  ([, code = '']) => code,
)

/** Runs a block of the README with its imports handed in and other values in place of some texts. */
function run(code: string, names: Readonly<Record<string, unknown>>, result: string): unknown {
  const body = code.replace(/^import .*$/gm, '')
  // oxlint-disable-next-line no-new-func -- the code is this package's own README
  return new Function(...Object.keys(names), `${body}\nreturn ${result}`)(...Object.values(names))
}

describe('README', () => {
  it('the example runs as it stands, against another address', async () => {
    const backend = cleanup.use(
      await startRestBackend(({ method, rawUrl, body }) => ({
        json: { id: '1', name: `${method} ${rawUrl} ${String(body)}` },
      })),
    )
    const opened: { yoga?: ReturnType<typeof createYoga>; port?: number } = {}
    const users = run(
      example.replace('https://api.example.com', backend.url),
      {
        ...vinyasa,
        createYoga: (options: object) => createYoga({ ...options, logging: false }),
        createServer: (yoga: ReturnType<typeof createYoga>) => ({
          listen: (port: number) => Object.assign(opened, { yoga, port }),
        }),
      },
      'users',
    ) as vinyasa.RestConnector
    cleanup.use(users)
    expect(opened.port).toBe(4000)
    const ask = async (query: string): Promise<unknown> => {
      const response = await opened.yoga?.fetch('http://yoga/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      })
      return response?.json()
    }
    expect(await ask('{ getUser(id: 1) { name } }')).toEqual({
      data: { getUser: { name: 'GET /v1/users/1 ' } },
    })
    expect(await ask('mutation { createUser(name: "Ada") { name } }')).toEqual({
      data: { createUser: { name: 'POST /v1/users {"name":"Ada"}' } },
    })
    expect(await users.execute('getUser', { id: 1 })).toMatchObject({ id: '1' })
    expect(example.trim().split('\n').length).toBeLessThanOrEqual(18)
  })

  it('the upload is one that a connector takes', () => {
    const endpoint = run(upload, {}, 'upload') as vinyasa.RestEndpoint
    const endpoints = [endpoint]
    const connector = cleanup.use(
      vinyasa.createRestConnector('r', { baseUrl: 'http://127.0.0.1:1', endpoints }),
    )
    expect(String(connector.schema.getMutationType()?.getFields()['addCover']?.args[2]?.type)).toBe('Upload!')
  })

  it('the join is one that a connector takes', () => {
    const reviews = run(join, {}, 'reviews') as vinyasa.RestEndpoint
    const endpoints = [
      reviews,
      { name: 'review', path: '/', responseSchema: { typeName: 'Review', fields: { id: 'id' } } },
      { name: 'user', path: '/', responseSchema: { typeName: 'User', fields: { id: 'id' } } },
    ]
    const connector = cleanup.use(
      vinyasa.createRestConnector('r', { baseUrl: 'http://127.0.0.1:1', endpoints }),
    )
    expect(connector.schema.getType('User')?.toConfig()).toMatchObject({ fields: { reviews: {} } })
  })

  it('names every option that there is', () => {
    for (const file of ['options', 'declare/endpoint-options']) {
      const source = readFileSync(new URL(`../src/${file}.ts`, import.meta.url), 'utf8')
      const [, options = ''] =
        /export interface Rest(?:Connector|Endpoint)\w*(?: extends \w+)? \{([\s\S]*?)\n\}/.exec(source) ?? []
      const names = [...options.matchAll(/^ {2}readonly (\w+)/gm)].map(([, name = '']) => name)
      expect(names.length).toBeGreaterThan(10)
      for (const name of names) expect(readme).toContain(`\`${name}\``)
    }
  })
})
