import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

/** What the benchmark asks of a program: see src/serve-program.ts. */
export function serveProgram(handler, packages) {
  const server = createServer(handler)
  server.listen(0, '127.0.0.1', () => {
    process.on('message', () => {
      const { user, system } = process.cpuUsage()
      process.send({ cpuMicros: user + system, rssBytes: process.memoryUsage.rss() })
    })
    process.on('disconnect', () => process.exit(0))
    const versions = Object.fromEntries(
      packages.map((name) => {
        const file = new URL(`node_modules/${name}/package.json`, import.meta.url)
        return [name, JSON.parse(readFileSync(file, 'utf8')).version]
      }),
    )
    process.send({ url: `http://127.0.0.1:${server.address().port}`, versions })
  })
}
