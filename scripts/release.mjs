// Releases the packages that the changesets list: sets versions and changelogs, builds, checks and publishes.
// `--dry-run` prints the new versions, builds and checks, but does not publish or change files.
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'

const isDry = process.argv.includes('--dry-run')
const published = ['--filter', './packages/*', '--filter', '@vinyasa/gateway']

/** Runs a command and shows its output. Stops the release if the command fails. */
function run(step, command, ...args) {
  process.stdout.write(`\n=== ${step}\n`)
  execFileSync(command, args, { stdio: 'inherit' })
}

const hasChanges = readdirSync('.changeset').some((file) => file.endsWith('.md') && file !== 'README.md')
if (!hasChanges) {
  process.stdout.write('Nothing to release: there is no changeset. Write one with `pnpm changeset`.\n')
  process.exit(0)
}
if (isDry) run('Versions that would be', 'pnpm', 'exec', 'changeset', 'status')
else {
  run('Versions and changelogs', 'pnpm', 'exec', 'changeset', 'version')
  run('Lockfile', 'pnpm', 'install', '--lockfile-only')
}
run('Build', 'pnpm', 'run', 'build')
run('publint', 'pnpm', ...published, '--workspace-concurrency=1', 'exec', 'publint', '--strict')
const attw = [
  'attw',
  '--pack',
  '.',
  '--profile',
  'esm-only',
  '--format',
  'table-flipped',
  '--no-emoji',
  '--no-color',
]
run('attw', 'pnpm', ...published, '--workspace-concurrency=1', 'exec', ...attw)
const publish = ['-r', ...published, 'publish', '--access', 'public', '--no-git-checks']
if (isDry) run('What would be published', 'pnpm', ...publish, '--dry-run')
else run('Publish', 'pnpm', ...publish, ...(process.env.CI ? ['--provenance'] : []))
