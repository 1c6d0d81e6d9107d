import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Packument {
  readonly name: string
  readonly versions: Readonly<Record<string, { readonly dist: { tarball: string } }>>
  readonly time?: Readonly<Record<string, string>>
  readonly _attachments?: Readonly<Record<string, { readonly data: string }>>
}

export interface Registry {
  readonly url: string
  /** Names of what was published. */
  readonly names: readonly string[]
  close(): Promise<void>
}

/**
 * A registry on this machine that holds what is published to it, as npm's API has it: a document for each package, and
 * tarballs. Other packages are none of its own: clients ask it for one scope.
 */
export async function startRegistry(): Promise<Registry> {
  const documents = new Map<string, Packument>()
  const tarballs = new Map<string, Buffer>()
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(request.url ?? '/').slice(1)
    const tarball = tarballs.get(path)
    if (request.method === 'GET' && tarball) return response.end(tarball)
    const known = documents.get(path)
    if (request.method === 'GET')
      return response.writeHead(known ? 200 : 404).end(JSON.stringify(known ?? {}))
    const body = Buffer.concat(await request.toArray()).toString()
    const { _attachments = {}, ...document } = JSON.parse(body) as Packument
    for (const [file, { data }] of Object.entries(_attachments))
      tarballs.set(`${document.name}/-/${file}`, Buffer.from(data, 'base64'))
    for (const version of Object.values(document.versions)) {
      const [, file = ''] = /\/-\/(.+)$/.exec(version.dist.tarball) ?? []
      version.dist.tarball = `${url}/${document.name}/-/${file}`
    }
    // Yarn 4 takes nothing that was published a moment ago.
    const time = Object.fromEntries(
      Object.keys(document.versions).map((version) => [version, '2026-01-01T00:00:00Z']),
    )
    documents.set(document.name, { ...document, time })
    return response.writeHead(201).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    get names() {
      return [...documents.keys()].toSorted()
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
