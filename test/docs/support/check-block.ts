import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { formatWithOptions } from 'node:util'
import type { CodeBlock } from '@vinyasa/test-kit'
import { Deployment } from 'kubernetes-models/apps/v1'
import { ConfigMap, Service } from 'kubernetes-models/v1'
import { expect, vi } from 'vitest'
import { parse } from 'graphql'
import { parseAllDocuments } from 'yaml'
import { loadConfig } from '../../../apps/gateway/src/config/file/load-config.ts'
import { checkNginx } from './nginx-block.ts'
import type { Story } from './story.ts'

export interface Followed extends CodeBlock {
  readonly before: CodeBlock | undefined
  readonly after: CodeBlock | undefined
}

const isConfig = ({ file, language }: CodeBlock): boolean =>
  language === 'yaml'
    ? file === undefined || file.endsWith('config.yaml')
    : /\.config\.(ts|js|json)$/.test(file ?? '')

/** Runs one block the way a reader would, and what is shown after it is compared with what came. */
export async function checkBlock(
  block: Followed,
  story: Story,
  onSkip: (command: string) => void,
): Promise<void> {
  const { language, code, file } = block
  switch (language) {
    case 'sh': {
      const out = await story.shell(code, onSkip)
      return expectShown(block, out, story)
    }
    case 'graphql':
      // A schema in another product's words: it is only read.
      if (/^(type|extend) /m.test(code)) {
        parse(code)
        return void (file !== undefined && story.write(file, code))
      }
      return expectShown(block, await ask(code, story), story)
    case 'text':
      return expectAnswerBefore(block)
    case 'json':
      if (file === undefined) return expectAnswerBefore(block)
      JSON.parse(code)
      return isConfig(block) ? loadBlock(block, story) : void story.write(file, code)
    case 'yaml':
      return checkYaml(block, story)
    case 'ts':
    case 'js':
      return isConfig(block) ? loadBlock(block, story) : runProgram(block, story)
    case 'nginx':
      return checkNginx(code, story)
    case 'dockerfile':
      return checkDockerfile(code, story)
    case 'proto':
      return void story.write(file ?? 'example.proto', code)
    case 'kotlin':
    case 'swift':
      // No compiler for these clients is installed.
      return
    case 'rust':
      // Another gateway's: it is only read.
      return void story.write(file ?? 'main.rs', code)
    default:
      throw new Error(`A block of "${language}" is not run by anything`)
  }
}

/** Text after a block is what it gives: JSON as a value, other text to the letter. */
function expectShown({ after }: Followed, came: string, story: Story): void {
  if (after?.file !== undefined) return
  if (after?.language === 'json') expect(JSON.parse(came)).toEqual(JSON.parse(story.placed(after.code)))
  if (after?.language === 'text') expect(story.shown(came)).toContain(after.code.trim())
}

function expectAnswerBefore({ before }: Followed): void {
  expect(before?.language).toMatch(/^(graphql|sh)$/)
}

async function ask(query: string, story: Story): Promise<string> {
  if (!story.isServing) await story.start()
  const isLive = /@live|^subscription/m.test(query)
  const accept = isLive
    ? 'text/event-stream'
    : query.includes('@defer')
      ? 'multipart/mixed'
      : 'application/json'
  const leave = new AbortController()
  const response = await fetch(story.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify({ query: query.replaceAll(/^# .*$/gm, '') }),
    signal: leave.signal,
  })
  if (!isLive) {
    const text = await response.text()
    expect(text).toContain('"data"')
    expect(text).not.toContain('"errors"')
    return text
  }
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString()
    if (text.includes('"data"')) break
  }
  leave.abort()
  return text
}

/** A config in YAML or code is loaded; one without backends has those of the first page. */
async function loadBlock({ language, file, code }: CodeBlock, story: Story): Promise<void> {
  const hasSources = /^(grpc|rest|extends|typeDefs):/m.test(code)
  const text = language === 'yaml' && !hasSources ? `extends: base.yaml\n${code}` : code
  await story.configured(text)
  story.write('base.yaml', BASE)
  const at = story.write(file ?? 'gateway.config.yaml', text)
  const { config } = await loadConfig({ file: at, directory: dirname(at), environment: story.environment })
  expect(Object.keys(config).length).toBeGreaterThan(0)
}

const BASE = `rest: { shop: { openapi: shop.yaml } }
grpc: { users: { endpoint: 'localhost:50051', protoFiles: [users.proto], expose: all } }
`

const MODELS: Readonly<Record<string, new (data: any) => { validate(): void }>> = {
  ConfigMap,
  Deployment,
  Service,
}

async function checkYaml(block: Followed, story: Story): Promise<void> {
  const { code, file } = block
  if (isConfig(block) && !/^(apiVersion|scrape_configs):/m.test(code)) return loadBlock(block, story)
  for (const document of parseAllDocuments(code)) {
    expect(document.errors).toEqual([])
    const manifest = document.toJS()
    const Model = MODELS[manifest.kind]
    if (manifest.apiVersion !== undefined && !Model) throw new Error(`No schema for ${manifest.kind}`)
    if (Model) new Model(manifest).validate()
  }
  if (file !== undefined) story.write(file, code)
}

async function runProgram({ file, language, code }: Followed, story: Story): Promise<void> {
  // Programs that a command starts.
  if (/^(shop|users|token|follow-.+)\.mjs$/.test(file ?? '')) return void story.write(file ?? '', code)
  // Clients leave the gateway running.
  const isClient = /:\/\/localhost:4000|'\.\/client\.ts'/.test(code) && !code.includes('listen(4000)')
  if (!isClient) await story.configured(code)
  const at = story.write(file ?? `program-${Math.abs(hash(code))}.${language}`, code)
  const printed = vi.spyOn(console, 'log')
  vi.stubEnv('TOKEN', story.environment['TOKEN'])
  try {
    await import(/* @vite-ignore */ at)
    const lines = printed.mock.calls.map((values) => `${formatWithOptions({ colors: false }, ...values)}\n`)
    if (isClient) expectPrinted(code, lines.join(''))
  } finally {
    printed.mockRestore()
    vi.unstubAllEnvs()
  }
  if (code.includes('listen(4000)')) story.serves()
}

/** A client names its output in a comment: `// prints "Ada", then "Grace"`. */
function expectPrinted(code: string, printed: string): void {
  const [, comment] = /^\/\/ prints (.*)$/m.exec(code) ?? []
  if (comment === undefined) return
  const expected = [...comment.matchAll(/"([^"]*)"/g)].map(([, line]) => `${line}\n`)
  expect(printed).toBe(expected.join(''))
}

function hash(text: string): number {
  return [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) | 0, 0)
}

/** Each instruction is one that there is, and what is copied is there. */
function checkDockerfile(code: string, story: Story): void {
  for (const line of code.split('\n').filter((line) => line !== '' && !line.startsWith('#'))) {
    const [instruction = '', ...words] = line.split(/\s+/)
    expect(['FROM', 'COPY', 'WORKDIR', 'USER', 'ENV']).toContain(instruction)
    if (instruction !== 'COPY') continue
    for (const source of words.slice(0, -1)) expect(readFileSync(`${story.folder}/${source}`)).toBeDefined()
  }
}
