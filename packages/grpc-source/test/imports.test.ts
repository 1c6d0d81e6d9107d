import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, posix, relative } from 'node:path'
import { array, assert, asyncProperty, boolean, constantFrom, integer, record } from 'fast-check'
import { lexicographicSortSchema, printSchema } from 'graphql'
import { expect, it, onTestFinished } from 'vitest'
import { compileProtoText } from '../src/descriptors/proto-text.ts'
import { createGrpcSource } from '../src/index.ts'
import { GRAPHQL_PROTO } from './graphql-proto.ts'

const FOLDERS = ['', 'a', 'a/b', 'c', 'c/d/e']

interface Layout {
  readonly files: readonly {
    folder: string
    isRelative: boolean
    hasDot: boolean
    imports: readonly number[]
  }[]
  readonly named: readonly number[]
  readonly hasRoot: boolean
}

// protoc has imports from a root alone; protobufjs and proto-loader read them from the importing file, and npm packages
// carry such files.
it('files are one and the same, whichever way others import them', async () => {
  await assert(
    asyncProperty(
      record({
        files: array(
          record({
            folder: constantFrom(...FOLDERS),
            isRelative: boolean(),
            hasDot: boolean(),
            imports: array(integer({ min: 0, max: 5 }), { maxLength: 3 }),
          }),
          { minLength: 2, maxLength: 6 },
        ),
        named: array(integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 3 }),
        hasRoot: boolean(),
      }),
      async (layout: Layout) => {
        const root = await mkdtemp(join(tmpdir(), 'vinyasa-imports-'))
        try {
          // Without a root only imports that say where they stand can be found.
          const { protoText, named } = textsOf({
            ...layout,
            files: layout.files.map((file) => ({ ...file, isRelative: file.isRelative || !layout.hasRoot })),
          })
          for (const [path, text] of Object.entries(protoText)) {
            await mkdir(dirname(join(root, path)), { recursive: true })
            await writeFile(join(root, path), text)
          }
          const paths = named.map((path) => join(root, path))
          const fromDisk = await schema({
            protoFiles: paths,
            ...(layout.hasRoot ? { includePaths: [root] } : {}),
          })
          // The same, each import as protoc has it.
          const plain = textsOf({
            ...layout,
            files: layout.files.map((file) => ({ ...file, isRelative: false })),
          })
          expect(fromDisk).toBe(await schema({ protoText: plain.protoText, expose: exposed(plain.named) }))
          expect(fromDisk).toBe(await schema({ protoText, expose: exposed(named) }))
        } finally {
          await rm(root, { recursive: true })
        }
      },
    ),
    { numRuns: 15 },
  )
}, 240_000)

it('an import that is nowhere is told with the file that asks for it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vinyasa-imports-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'a.proto')
  await writeFile(
    file,
    'syntax = "proto3"; import "../nope.proto"; message A { B b = 1; } service S { rpc GetA(A) returns (A); }',
  )
  await expect(schema({ protoFiles: [file] })).rejects.toThrow(
    /a\.proto imports "\.\.\/nope\.proto", which was not found/,
  )
})

const OPTION = 'option (graphql.schema) = { name: "get" }'
const service = (name: string, imports: string): string =>
  `syntax = "proto3"; package p.${name}; ${imports} message A { string id = 1; }
   service S { rpc Get(A) returns (A) { ${OPTION.replace('get', name)}; } }`

it.each([
  ['./graphql.proto', {}],
  ['../graphql.proto', {}],
  ['vendor/graphql.proto', {}],
  ['vendor/graphql.proto', { 'graphql.proto': GRAPHQL_PROTO }],
])('the graphql.proto that comes along is one, also as %s', async (written, given) => {
  const protoText = {
    'a.proto': service('a', 'import "graphql.proto";'),
    'svc/b.proto': service('b', `import "${written}";`),
    ...given,
  }
  expect(await schema({ protoText, expose: undefined })).toMatch(/type Query \{\s+a\(.*\s+b\(/)
  const reversed = Object.fromEntries(Object.entries(protoText).toReversed())
  expect(await schema({ protoText: reversed, expose: undefined })).toContain(' b(')
})

it('a graphql.proto on the disk is read before the one that comes along, whichever way it is imported', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vinyasa-imports-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'graphql.proto'), GRAPHQL_PROTO)
  await writeFile(join(folder, 'b.proto'), service('b', 'import "vendor/graphql.proto";'))
  const read: string[] = []
  await compileProtoText({
    protoFiles: ['b.proto'],
    includePaths: [folder],
    onFile: (path) => void read.push(relative(folder, path)),
  })
  expect(read).toEqual(['b.proto', 'graphql.proto'])
})

/** File 0 may be imported by 1, that by 2 and so on: circles are not allowed. */
function textsOf({ files, named }: Layout): { protoText: Record<string, string>; named: readonly string[] } {
  const paths = files.map(({ folder }, index) => posix.join(folder, `f${index}.proto`))
  const protoText = Object.fromEntries(
    files.map(({ isRelative, hasDot, imports, folder }, index) => {
      const used = [...new Set(imports.filter((target) => target < index))]
      const lines = used.map((target) => {
        const path = paths[target]!
        const beside = relative(folder, path)
        const written = beside.startsWith('.') ? beside : `./${beside}`
        return `import "${isRelative ? written : hasDot && folder === '' ? `./${path}` : path}";`
      })
      const fields = used.map((target, number) => `M${target} m${target} = ${number + 2};`)
      return [
        paths[index]!,
        `syntax = "proto3"; package p; ${lines.join(' ')} message M${index} { string id = 1; ${fields.join(' ')} }
         service S${index} { rpc GetM${index}(M${index}) returns (M${index}); }`,
      ]
    }),
  )
  return { protoText, named: [...new Set(named.map((index) => paths[index % paths.length]!))] }
}

const exposed = (named: readonly string[]): string[] =>
  named.map((path) => `p.S${/f(\d)\.proto$/.exec(path)?.[1]}`)

async function schema(options: object): Promise<string> {
  const grpc = await createGrpcSource({
    name: 'imports',
    endpoint: 'localhost:1',
    expose: 'all',
    logger: { warn() {}, error() {} },
    ...options,
  })
  await grpc.close()
  return printSchema(lexicographicSortSchema(grpc.schema))
}
