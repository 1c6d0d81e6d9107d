// Writes a package's modules as one file for each entry of its `exports`, `imports` and `bin`: Node takes about half a
// millisecond for every module that it links, and the gateway's own are 350. Run in the package's folder, after `tsc`
// has written the declarations.
import { readFileSync, readdirSync, rmSync } from 'node:fs'
import { isAbsolute, join, relative } from 'node:path'
import { rolldown } from 'rolldown'

const { version, exports, imports = {}, bin = {} } = JSON.parse(readFileSync('package.json', 'utf8'))
const targets = [exports, imports, bin].flatMap((entries) => Object.values(entries))
const files = targets.flatMap((target) => (typeof target === 'string' ? target : Object.values(target)))
const names = files.flatMap((file) => /^\.\/dist\/(.*)\.js$/.exec(file)?.[1] ?? [])

/** Modules that read files beside `src`, which whoever bundles `dist` has not: what they have read stands in their place. */
const shipped = new Map([
  ['src/descriptors/shipped/protos.ts', () => textsOf('proto', 'SHIPPED_PROTOS')],
  ['src/assets.ts', () => textsOf('assets', 'ASSETS')],
  ['src/version.ts', () => `export const version = () => ${JSON.stringify(version)}`],
])

for (const file of readdirSync('dist', { recursive: true })) {
  if (/\.js(\.map)?$/.test(file)) rmSync(join('dist', file))
}
const bundle = await rolldown({
  input: Object.fromEntries(names.map((name) => [name, `./src/${name}.ts`])),
  // Other packages stay what they are: there must be one graphql, and one of each of ours.
  external: (id) => !id.startsWith('.') && !isAbsolute(id),
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
await bundle.write({ dir: 'dist', format: 'esm', sourcemap: true, chunkFileNames: '[name]-[hash].js' })
await bundle.close()

/** The texts of a folder's files, as a module that holds them. */
function textsOf(folder, name) {
  const paths = readdirSync(folder, { recursive: true }).filter((path) => /\.\w+$/.test(path))
  const texts = paths.map((path) => [path.replaceAll('\\', '/'), readFileSync(join(folder, path), 'utf8')])
  return `export const ${name} = new Map(${JSON.stringify(texts)})`
}
