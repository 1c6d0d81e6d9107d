import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { RestConfigError } from '../errors.ts'
import { asNode, createDocument, splitOnce, type Node, type OpenApiDocument } from './openapi-document.ts'

/**
 * Reads a document, given as an object or as the path of a JSON or YAML file, and the files that it refers to. Swagger 2
 * becomes OpenAPI 3. Nothing is downloaded. @throws RestConfigError where there is no such document
 */
export async function readDocument(source: object | string): Promise<OpenApiDocument> {
  if (typeof source === 'string' && /^https?:/i.test(source))
    throw new RestConfigError(`give a file or an object, not "${source}"; documents are not downloaded`)
  const file = typeof source === 'string' ? pathToFileURL(resolve(source)).href : undefined
  const given = asNode(file === undefined ? source : await readValue(file))
  const files = file === undefined ? new Map<string, unknown>() : await readReferred(given, file)
  const urls = file === undefined ? [] : [file, ...files.keys()]
  return createDocument(await upgraded(given), files, [...new Set(urls.map((url) => fileURLToPath(url)))])
}

async function upgraded(root: Node): Promise<Node> {
  if (String(root['swagger']).startsWith('2')) {
    const { upgradeFromTwoToThree } = await import('@scalar/openapi-upgrader/2.0-to-3.0')
    return asNode(upgradeFromTwoToThree(structuredClone(root)))
  }
  if (typeof root['openapi'] === 'string' && root['openapi'].startsWith('3.')) return root
  throw new RestConfigError('the document is neither OpenAPI 3 nor Swagger 2: it has no such version')
}

async function readValue(file: string): Promise<unknown> {
  const path = fileURLToPath(file)
  try {
    return await parse((await readFile(path, 'utf8')).replace(/^\uFEFF/, ''))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new RestConfigError(`the OpenAPI document cannot be read: ${path}: ${reason}`, { cause })
  }
}

/** JSON is read as such: of large documents YAML takes many times as long. */
async function parse(text: string): Promise<unknown> {
  if (/^\s*[{[]/.test(text)) {
    try {
      return JSON.parse(text)
    } catch {
      // YAML in flow style.
    }
  }
  const { CORE_SCHEMA, load } = await import('js-yaml')
  return load(text, { schema: CORE_SCHEMA, json: true })
}

/** All other files that a file refers to, directly or not, by their URLs. References in them are made absolute. */
async function readReferred(root: Node, rootFile: string): Promise<Map<string, unknown>> {
  const files = new Map<string, unknown>()
  const waiting: string[] = []

  /** Lists the files below a value; in files other than the root, references become absolute. */
  function visit(value: unknown, base: string): void {
    if (typeof value !== 'object' || value === null) return
    const ref = (value as { $ref?: unknown }).$ref
    if (typeof ref === 'string' && (base !== rootFile || !ref.startsWith('#'))) {
      const absolute = absoluteRef(ref, base)
      const [file] = splitOnce(absolute, '#')
      ;(value as { $ref?: unknown }).$ref = absolute
      if (file.startsWith('file:') && !files.has(file)) {
        files.set(file, undefined)
        waiting.push(file)
      }
    }
    for (const member of Object.values(value)) visit(member, base)
  }

  function absoluteRef(ref: string, base: string): string {
    if (!URL.canParse(ref, base)) return ref
    const { href } = new URL(ref, base)
    const [file, pointer] = splitOnce(href, '#')
    return file === rootFile ? `#${pointer}` : href
  }

  visit(root, rootFile)
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    // One that is missing costs only what refers to it.
    const value = await readValue(file).catch(() => undefined)
    files.set(file, value)
    visit(value, file)
  }
  return files
}
