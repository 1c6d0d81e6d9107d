import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { TlsOptions } from '@vinyasa/grpc-transport'
import {
  freePort,
  isListening,
  makeCertificate,
  spawnProcess,
  waitUntil,
  type SpawnedProcess,
} from '@vinyasa/test-kit'

/** What a server of the interop cases may lack. */
export type Feature = 'compressed requests' | 'compressed replies' | 'reflection'

/** A server of another make, running. */
export interface InteropServer {
  readonly port: number
  readonly tlsPort: number
  /** With which its certificate is accepted. */
  readonly tls: TlsOptions
  close(): Promise<void>
}

export interface InteropServerKind {
  readonly name: string
  readonly has: readonly Feature[]
  /** Builds what there is to build, in a folder of its own, and starts it twice: in plain text and with TLS. */
  start(folder: string): Promise<InteropServer>
}

/** Of Debian's package grpc-proto. */
export const PROTO_PATH = '/usr/share/grpc-proto'

/** With `google/api/annotations.proto`, which comes along. */
const GOOGLE_PROTOS = fileURLToPath(new URL('../../packages/grpc-source/proto', import.meta.url))
const OWN = fileURLToPath(new URL('servers', import.meta.url))
const run = promisify(execFile)

export const interopServers: readonly InteropServerKind[] = [
  {
    name: 'C++',
    has: ['compressed requests', 'compressed replies', 'reflection'],
    async start(folder) {
      const names = ['empty', 'messages', 'test']
      await protoc(
        names.map((name) => `grpc/testing/${name}.proto`),
        [
          `-I${PROTO_PATH}`,
          `--cpp_out=${folder}`,
          `--grpc_out=${folder}`,
          '--plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin',
        ],
      )
      const generated = [...names.map((name) => `${name}.pb.cc`), 'test.grpc.pb.cc']
      const sources = [
        join(OWN, 'cpp/server.cc'),
        ...generated.map((name) => join(folder, 'grpc/testing', name)),
      ]
      const objects = sources.map((_, index) => join(folder, `${index}.o`))
      const compile = (index: number): Promise<unknown> =>
        run('g++', [
          '-O0',
          '-std=c++17',
          `-I${folder}`,
          '-c',
          sources[index] ?? '',
          '-o',
          objects[index] ?? '',
        ])
      // Two at a time: each takes half a gigabyte.
      await Promise.all([
        compile(0).then(() => compile(2)),
        compile(1)
          .then(() => compile(3))
          .then(() => compile(4)),
      ])
      const binary = join(folder, 'server')
      const libraries = [
        '-Wl,--copy-dt-needed-entries',
        '-lgrpc++_reflection',
        '-lgrpc++',
        '-lprotobuf',
        '-lpthread',
      ]
      await run('g++', [...objects, '-o', binary, ...libraries])
      return startBoth(folder, binary, [])
    },
  },
  {
    name: 'Python',
    has: ['compressed replies'],
    async start(folder) {
      // Debian's own Python has Debian's modules. By names that are not those of the library's own modules.
      await protoc(
        ['empty.proto', 'messages.proto'],
        [`-I${PROTO_PATH}/grpc/testing`, `--python_out=${folder}`],
      )
      return startBoth(folder, '/usr/bin/python3', [join(OWN, 'python/server.py'), folder])
    },
  },
  {
    name: 'Go',
    has: [],
    async start(folder) {
      const path = join(folder, 'path')
      mkdirSync(join(path, 'src'), { recursive: true })
      const files = ['empty', 'messages', 'test'].map((name) => `grpc/testing/${name}.proto`)
      const names = files.map((file) => `M${file}=grpc/testing`)
      await protoc(files, [
        `-I${PROTO_PATH}`,
        `--go_out=plugins=grpc,${names.join(',')}:${join(path, 'src')}`,
      ])
      const binary = join(folder, 'server')
      await goBuild(path, binary, join(OWN, 'go/main.go'))
      return startBoth(folder, binary, [])
    },
  },
  {
    // The one that the gem carries.
    name: 'Ruby',
    has: [],
    async start() {
      const { stdout: files } = await run('dpkg', ['-L', 'ruby-grpc'])
      const program = files.split('\n').find((path) => path.endsWith('/src/ruby/pb/test/server.rb'))
      if (program === undefined) throw new Error('the package ruby-grpc has no server of the interop cases')
      const [port, tlsPort] = [await freePort(), await freePort()]
      const start = (at: number, isTls: boolean): Promise<SpawnedProcess> =>
        spawnProcess({ command: 'ruby', args: [program, `--port=${at}`, `--use_tls=${isTls}`] })
      const servers = await Promise.all([start(port, false), start(tlsPort, true)])
      await waitUntil(async () => (await isListening(port)) && isListening(tlsPort), { timeoutMs: 60_000 })
      const ca = readFileSync(join(dirname(program), '../../spec/testdata/ca.pem'))
      return { port, tlsPort, tls: { ca, serverName: 'foo.test.google.fr' }, close: () => end(servers) }
    },
  },
]

/** A server of Go with the annotations of grpc-gateway, which describes itself. */
export async function startGoGateway(folder: string): Promise<SpawnedProcess> {
  const path = join(folder, 'path')
  mkdirSync(join(path, 'src/shelves/v1'), { recursive: true })
  const annotations = 'Mgoogle/api/annotations.proto=google.golang.org/genproto/googleapis/api/annotations'
  const out = join(path, 'src/shelves/v1')
  const own = join(OWN, 'go-gateway')
  await protoc(
    ['shelves.proto'],
    [
      `-I${own}`,
      `-I${GOOGLE_PROTOS}`,
      `--go_out=plugins=grpc,Mshelves.proto=shelves/v1,${annotations}:${out}`,
    ],
  )
  const binary = join(folder, 'server')
  await goBuild(path, binary, join(own, 'main.go'))
  return spawnProcess({ command: binary, ready: /^port (\d+)$/ })
}

function goBuild(path: string, binary: string, source: string): Promise<unknown> {
  // Debian's packages are laid out for the time before modules.
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: `${path}:/usr/share/gocode`, GOFLAGS: '' }
  return run('go', ['build', '-o', binary, source], { env })
}

async function startBoth(folder: string, command: string, args: readonly string[]): Promise<InteropServer> {
  const { cert, certFile, keyFile } = makeCertificate(folder)
  const start = (extra: readonly string[]): Promise<SpawnedProcess> =>
    spawnProcess({ command, args: [...args, ...extra], ready: /^port (\d+)$/ })
  const servers = await Promise.all([start([]), start([certFile, keyFile])])
  const [port = 0, tlsPort = 0] = servers.map(({ ready }) => Number(ready?.[1]))
  return { port, tlsPort, tls: { ca: cert }, close: () => end(servers) }
}

async function end(servers: readonly SpawnedProcess[]): Promise<void> {
  await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()))
}

function protoc(files: readonly string[], args: readonly string[]): Promise<unknown> {
  return run('protoc', [...args, ...files])
}
