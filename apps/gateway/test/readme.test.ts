import { temporaryFolder } from '@vinyasa/test-kit'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadConfig } from '../src/config/file/load-config.ts'

const README = new URL('../../../README.md', import.meta.url)

it("the README's gateway.config.ts is a valid config", async () => {
  const text = await readFile(README, 'utf8')
  const [, example] = /```ts\n\/\/ gateway\.config\.ts\n(.*?)```/s.exec(text) ?? []
  expect(example).toContain('defineConfig')
  const directory = await temporaryFolder('readme')
  // Outside the workspace the package is not installed; `defineConfig` only adds types.
  const runnable = example?.replace(/^import .*$/m, 'const defineConfig = (config: object) => config')
  await writeFile(join(directory, 'gateway.config.ts'), runnable ?? '')
  const { config } = await loadConfig({ directory, environment: {} })
  expect(Object.keys(config).toSorted()).toEqual(['grpc', 'responseCache', 'rest'])
})

it('the examples in the README of the gateway are valid configs', async () => {
  const text = await readFile(new URL('../README.md', import.meta.url), 'utf8')
  const examples = [...text.matchAll(/```yaml\n(.*?)```/gs)].map(([, example = '']) => example)
  expect(examples).toHaveLength(10)
  const directory = await temporaryFolder('readme')
  for (const example of examples) {
    await writeFile(join(directory, 'gateway.config.yaml'), example)
    await expect(loadConfig({ directory, environment: {} })).resolves.toBeDefined()
  }
})
