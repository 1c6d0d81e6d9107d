import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connectRawWebSocket } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

it('the README’s example runs: a live query is updated by a mutation', async () => {
  const example = /```ts\n([^]*?)```/.exec(readme)?.[1] ?? ''
  const file = new URL(`readme-example-${process.pid}.generated.ts`, import.meta.url)
  const code = example.replace('server.listen(4000)', 'server.listen(0)\nexport { server, plugin }')
  expect(code).not.toBe(example)
  writeFileSync(file, code)
  onTestFinished(() => rmSync(file))
  const { server } = (await import(/* @vite-ignore */ file.href)) as { server: Server }
  onTestFinished(() => void server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo

  const socket = await connectRawWebSocket(`ws://127.0.0.1:${port}/graphql/live`)
  onTestFinished(() => socket.terminate())
  socket.sendJson({ type: 'connection_init' })
  await socket.next()
  socket.sendJson({ id: '1', type: 'subscribe', payload: { query: 'query @live { todos { id text } }' } })
  expect((await socket.nextJson()).payload.data.todos).toHaveLength(1)
  await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: 'mutation { addTodo(text: "Feed the cat") { id } }' }),
  })
  const { payload } = await socket.nextJson()
  expect(payload.data.todos).toEqual([
    { id: '1', text: 'Water the plants' },
    { id: '2', text: 'Feed the cat' },
  ])
  expect(payload.changed_fields).toEqual(['todos[1]'])
})

it('the README names every option', () => {
  const options = readFileSync(new URL('../src/options.ts', import.meta.url), 'utf8')
  const field = readFileSync(new URL('../../core/src/options/live-options.ts', import.meta.url), 'utf8')
  const ws = readFileSync(new URL('../src/ws.ts', import.meta.url), 'utf8')
  const server = /interface LiveServerOptions \{.*?\n\}/s.exec(ws)?.[0]
  const names = [...`${options}${field}${server}`.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(
    ([, name]) => name!,
  )
  expect(names.length).toBeGreaterThan(30)
  expect(names.filter((name) => !readme.includes(`\`${name}\``))).toEqual([])
})
