// Writes a package's modules as one file for each entry of its `exports`, `imports` and `bin`: Node takes about half a
// millisecond for every module that it links, and the gateway's own are 350. Of some packages it takes what is used, with
// their licences. Run in the package's folder, after `tsc` has written the declarations.
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, isAbsolute, join, relative } from 'node:path'
import { rolldown } from 'rolldown'

const { version, exports, imports = {}, bin = {} } = JSON.parse(readFileSync('package.json', 'utf8'))
const targets = [exports, imports, bin].flatMap((entries) => Object.values(entries))
const files = targets.flatMap((target) => (typeof target === 'string' ? target : Object.values(target)))
const names = files.flatMap((file) => /^\.\/dist\/(.*)\.js$/.exec(file)?.[1] ?? [])

/** Dependencies of which a small part is used. They are installed all the same, as whoever audits a tree looks there. */
const TAKEN = new Set(['zod'])

/** Modules that read files beside `src`, which whoever bundles `dist` has not: what they have read stands in their place. */
const shipped = new Map([
  ['src/descriptors/shipped/protos.ts', () => textsOf('proto', 'SHIPPED_PROTOS')],
  ['src/assets.ts', () => textsOf('assets', 'ASSETS')],
  ['src/version.ts', () => `export const version = () => ${JSON.stringify(version)}`],
])

for (const file of readdirSync('dist', { recursive: true })) {
  if (/^LICENSES\.txt$|\.js(\.map)?$/.test(file)) rmSync(join('dist', file))
}
const bundle = await rolldown({
  input: Object.fromEntries(names.map((name) => [name, `./src/${name}.ts`])),
  // Others stay what they are: there must be one graphql, and one of each of ours.
  external: (id) => !id.startsWith('.') && !isAbsolute(id) && !TAKEN.has(id),
  plugins: [
    {
      name: 'what lies beside a package',
      load: (id) => shipped.get(relative('.', id).replaceAll('\\', '/'))?.(),
    },
  ],
  platform: 'node',
  transform: { target: 'es2022' },
})
// Parts that entries share, or load late, lie beside each other: files are found from `import.meta.url`.
const { output } = await bundle.write({
  dir: 'dist',
  format: 'esm',
  sourcemap: true,
  chunkFileNames: '[name]-[hash].js',
})
await bundle.close()

const ids = output.flatMap(({ moduleIds = [] }) => moduleIds)
const taken = new Set(
  ids.flatMap((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0] ?? []),
)
const licences = [...taken].map(
  (folder) => `${basename(folder)}\n\n${readFileSync(join(folder, 'LICENSE'), 'utf8')}`,
)
if (licences.length > 0) writeFileSync('dist/LICENSES.txt', licences.join('\n'))

/** The texts of a folder's files, as a module that holds them. */
function textsOf(folder, name) {
  const paths = readdirSync(folder, { recursive: true }).filter((path) => /\.\w+$/.test(path))
  const texts = paths.map((path) => [path.replaceAll('\\', '/'), readFileSync(join(folder, path), 'utf8')])
  return `export const ${name} = new Map(${JSON.stringify(texts)})`
}
