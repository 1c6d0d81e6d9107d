// Checks the production dependencies against the advisories of the registry. If the registry does not respond, it prints a
// message and uses the list in .ci/advisories.json. The check then fails if a version is below the fixed version of an
// advisory, if a package version is missing from the list, or if the list is too old. `--write` prints the package
// versions for a new list.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const LIST = new URL('../.ci/advisories.json', import.meta.url)
/** Older lists fail the check. */
const MAX_AGE_DAYS = 90

/** Returns the problems of a dependency tree according to a list. The result is empty if there are none. */
export function offlineFaults(tree, { lookedUpOn, packages, advisories }, now = Date.now()) {
  const days = Math.floor((now - Date.parse(lookedUpOn)) / 86_400_000)
  const faults = days <= MAX_AGE_DAYS ? [] : [`the list is ${days} days old, ${MAX_AGE_DAYS} are allowed`]
  for (const one of tree) {
    const at = one.lastIndexOf('@')
    const [name, version] = [one.slice(0, at), one.slice(at + 1)]
    if (!packages.includes(one)) faults.push(`${one} came since the list was written`)
    for (const { id, package: concerned, mendedIn } of advisories)
      if (concerned === name && isBefore(version, mendedIn))
        faults.push(`${one}: ${id}, mended in ${mendedIn}`)
  }
  return faults
}

function isBefore(version, other) {
  const [a, b] = [version, other].map((text) =>
    text.split(/[.+-]/).map((part) => Number.parseInt(part, 10) || 0),
  )
  const at = [0, 1, 2].find((index) => a[index] !== b[index])
  return at !== undefined && a[at] < b[at]
}

/** Returns whether `pnpm audit` failed to reach the registry, instead of finding an advisory. */
export const couldNotAsk = (output) =>
  /ERR_PNPM_AUDIT_(BAD_RESPONSE|ENDPOINT)|ENOTFOUND|ECONN|ETIMEDOUT/.test(output)

function productionTree() {
  const filters = ['--filter', './packages/*', '--filter', '@vinyasa/gateway']
  const args = [...filters, 'list', '--prod', '--depth', 'Infinity', '--json']
  const found = new Set()
  const walk = (dependencies = {}) => {
    for (const [name, { from, version, dependencies: below }] of Object.entries(dependencies)) {
      if (!/^(link|file|workspace):/.test(version)) found.add(`${from ?? name}@${version}`)
      walk(below)
    }
  }
  for (const one of JSON.parse(execFileSync('pnpm', args, { maxBuffer: 1 << 28 }))) {
    walk(one.dependencies)
    walk(one.optionalDependencies)
  }
  return [...found].sort()
}

const say = (text) => process.stdout.write(`${text}\n`)

function main() {
  if (process.argv.includes('--write')) return say(JSON.stringify(productionTree(), undefined, 2))
  const audit = spawnSync('pnpm', ['audit', '--prod', '--audit-level', 'high'], { encoding: 'utf8' })
  const output = `${audit.stdout}${audit.stderr}`
  process.stdout.write(output)
  if (!couldNotAsk(output)) process.exit(audit.status ?? 1)
  const list = JSON.parse(readFileSync(LIST, 'utf8'))
  say(
    `\nTHE REGISTRY COULD NOT BE ASKED. The advisories known on ${list.lookedUpOn} decide (.ci/advisories.json).`,
  )
  const tree = productionTree()
  const faults = offlineFaults(tree, list)
  for (const fault of faults) say(`FAILED ${fault}; look it up, and write it into .ci/advisories.json`)
  say(`${tree.length} package versions, ${faults.length} faults`)
  process.exit(faults.length > 0 ? 1 : 0)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main()
