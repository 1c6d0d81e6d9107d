import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const require = createRequire(import.meta.url)

/** Folders that hold the protos and what they import. */
export const INCLUDE_PATHS: readonly string[] = [
  join(here, 'proto'),
  fileURLToPath(new URL('../../proto', import.meta.url)),
]

const OUT = join(here, '.gen')
const MODULES = {
  version: 'v2',
  modules: [{ path: 'test/torture/proto' }, { path: 'proto', excludes: ['proto/google', 'proto/grpc'] }],
}

/** Compiles the protos with buf; the path of the descriptor set. */
export function buildDescriptorSet(): string {
  mkdirSync(OUT, { recursive: true })
  const descriptorSet = join(OUT, 'image.binpb')
  buf('build', '-o', descriptorSet)
  return descriptorSet
}

/** Generates the protos with ts-proto, as a team would; the folder of the code. */
export function generateTsProto(name: string, options: readonly string[]): string {
  const out = join(OUT, name)
  rmSync(out, { recursive: true, force: true })
  const template = {
    version: 'v2',
    plugins: [
      {
        local: [process.execPath, require.resolve('ts-proto/protoc-gen-ts_proto')],
        out,
        opt: [
          'esModuleInterop=true',
          'importSuffix=.ts',
          'outputSchema=true',
          'outputServices=grpc-js',
          ...options,
        ],
        include_imports: true,
        include_wkt: true,
      },
    ],
  }
  buf('generate', '--template', JSON.stringify(template))
  return out
}

function buf(...args: string[]): void {
  const bin = join(require.resolve('@bufbuild/buf/package.json'), '..', 'bin', 'buf')
  execFileSync(process.execPath, [bin, ...args, '--config', JSON.stringify(MODULES)], {
    cwd: join(here, '../..'),
    stdio: 'pipe',
  })
}
