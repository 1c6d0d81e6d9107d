import { readFile, rm, writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

it("runs the README's example", async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
  const example = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
  expect(example).toContain('server.listen(4000)')
  const file = fileURLToPath(new URL('readme-example.ts', import.meta.url))
  await writeFile(file, `${example.replace('listen(4000)', "listen(0, '127.0.0.1')")}\nexport { server }\n`)
  onTestFinished(() => rm(file))
  const { server } = (await import(/* @vite-ignore */ file)) as { server: Server }
  onTestFinished(() => void server.close())
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve))

  const { port } = server.address() as AddressInfo
  const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ query: '{ hello }' }),
  })
  expect(await response.json()).toEqual({ data: { hello: 'world' } })
})
