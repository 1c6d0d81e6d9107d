import { createServer } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { ServerCredentials } from '@grpc/grpc-js'
import { freePort, makeCertificate, startGrpcBackend } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  descriptorSetOf,
  startReflectionServer,
} from '../../../packages/grpc-source/test/reflection-server.ts'
import { emptyFolder } from './support/folder.ts'

const HELLO = `syntax = "proto3"; package hello.v1;
message Hello { string name = 1; }
service Greeter { rpc GetHello(Hello) returns (Hello); }`
const BYE = `syntax = "proto3"; package bye.v1; import "hello.proto";
service Parting { rpc GetBye(hello.v1.Hello) returns (hello.v1.Hello); }`
const UMBRELLA = `syntax = "proto3"; // service Nothing { }
import public "hello.proto"; import public "bye.proto";`

async function initiated(
  files: Readonly<Record<string, string | Uint8Array>>,
  ...args: string[]
): Promise<{ config: string; checked: readonly string[] }> {
  const folder = await emptyFolder()
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder.directory, name), content)
  const code = await folder.command('init', ...args)
  expect([code, folder.err]).toEqual([0, []])
  expect([await folder.command('check'), folder.err]).toEqual([0, []])
  const config = await readFile(join(folder.directory, 'gateway.config.yaml'), 'utf8')
  return { config, checked: folder.out.filter((line) => line.startsWith('schema')) }
}

describe('vinyasa init writes a config that check passes', () => {
  it('for several protos', async () => {
    const backend = await startGrpcBackend({ protos: HELLO, handlers: {} })
    onTestFinished(() => backend.stop())
    const files = { 'hello.proto': HELLO, 'bye.proto': BYE }
    const { config, checked } = await initiated(
      files,
      'hello.proto',
      'bye.proto',
      '--endpoint',
      backend.address,
    )
    expect(checked).toEqual(['schema   2 queries, 0 mutations, 0 subscriptions'])
    expect(config).toMatch(
      /grpc:\n {2}hello:\n {4}endpoint: .*\n {4}protoFiles:\n {6}- hello\.proto\n {6}- bye\.proto/,
    )
  }, 60_000)

  it('for a proto that only imports others', async () => {
    const backend = await startGrpcBackend({ protos: HELLO, handlers: {} })
    onTestFinished(() => backend.stop())
    const files = { 'all.proto': UMBRELLA, 'hello.proto': HELLO, 'bye.proto': BYE }
    const { config, checked } = await initiated(files, 'all.proto', '--endpoint', backend.address)
    expect(checked).toEqual(['schema   2 queries, 0 mutations, 0 subscriptions'])
    expect(config).toMatch(/^ {2}all:$/m)
  }, 60_000)

  it('for a service behind other things on its line, and behind what looks like a comment in a string', async () => {
    const backend = await startGrpcBackend({ protos: HELLO, handlers: {} })
    onTestFinished(() => backend.stop())
    const line = `syntax = "proto3"; package one; message M { string a = 1 [json_name = "a/*"]; } service S { rpc Get(M) returns (M); } message N { string b = 1 [json_name = "*/b"]; }`
    const { checked } = await initiated({ 'one.proto': line }, 'one.proto', '--endpoint', backend.address)
    expect(checked).toEqual(['schema   1 queries, 0 mutations, 0 subscriptions'])
  }, 60_000)

  it('for a descriptor set', async () => {
    const backend = await startGrpcBackend({ protos: HELLO, handlers: {} })
    onTestFinished(() => backend.stop())
    const set = await descriptorSetOf({ 'hello.proto': HELLO, 'bye.proto': BYE })
    const { config, checked } = await initiated(
      { 'set.binpb': set },
      'set.binpb',
      '--endpoint',
      backend.address,
    )
    expect(checked).toEqual(['schema   2 queries, 0 mutations, 0 subscriptions'])
    expect(config).toContain('descriptorSet: set.binpb')
  }, 60_000)

  it.each(['host:port', 'grpc://', 'http://', 'dns:', 'unix:', 'https://', 'grpcs://'])(
    'for a server that describes itself at %s',
    async (how) => {
      const { directory } = await emptyFolder()
      const isTls = how.endsWith('s://')
      const listening = {
        ...(how === 'unix:' && { listenAt: `unix:${join(directory, 'greeter.sock')}` }),
        ...(isTls && { credentials: tlsOf(directory) }),
      }
      // The certificate is its own authority.
      if (isTls) vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
      onTestFinished(() => void vi.unstubAllEnvs())
      const server = await startReflectionServer(
        await descriptorSetOf({ 'hello.proto': HELLO }),
        'v1',
        undefined,
        listening,
      )
      onTestFinished(() => server.close())
      const at = listening.listenAt ?? `${how === 'host:port' ? '' : how}${server.address}`
      const { config, checked } = await initiated({}, at)
      expect(checked).toEqual(['schema   1 queries, 0 mutations, 0 subscriptions'])
      expect(config).toMatch(/^# query {8}getHello: hello\.v1\.Greeter\.GetHello/m)
      // An address in numbers is no name.
      expect(config).toMatch(how === 'unix:' ? /^ {2}greeter:$/m : /^ {2}api:$/m)
    },
    60_000,
  )
})

function tlsOf(directory: string): ServerCredentials {
  const { cert, key } = makeCertificate(directory)
  return ServerCredentials.createSsl(null, [{ cert_chain: Buffer.from(cert), private_key: Buffer.from(key) }])
}

async function words(...args: string[]): Promise<string> {
  const folder = await emptyFolder()
  await writeFile(join(folder.directory, 'empty.proto'), 'syntax = "proto3"; message Alone {}')
  await writeFile(join(folder.directory, 'hello.proto'), HELLO)
  await writeFile(
    join(folder.directory, 'picture.bin'),
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13]),
  )
  await mkdir(join(folder.directory, 'folder'))
  const before = await readdir(folder.directory)
  expect(await folder.command('init', ...args)).toBe(1)
  expect(folder.err).toHaveLength(1)
  expect(await readdir(folder.directory)).toEqual(before)
  return folder.err[0] as string
}

describe('vinyasa init says in one line what it found and what to give it', () => {
  it.each([
    [
      'a proto without a service',
      ['empty.proto'],
      /empty\.proto: found no service.*pass a \.proto file that defines a service/,
    ],
    [
      'a binary file that is no descriptor set',
      ['picture.bin'],
      /picture\.bin.*cannot be read as a FileDescriptorSet.*create a descriptor set with/,
    ],
    [
      'several files of different kinds',
      ['hello.proto', 'picture.bin'],
      /only \.proto files can be combined/,
    ],
    ['a folder', ['folder'], /folder is a folder; pass the path of a file/],
  ])('%s', async (_what, args, line) => {
    expect(await words(...args)).toMatch(line)
  })

  it.each(['', 'http://', 'grpc://'])(
    'a closed port, as %s…',
    async (scheme) => {
      expect(await words(`${scheme}127.0.0.1:${await freePort()}`)).toMatch(
        /cannot connect to .*127\.0\.0\.1:\d+ .*start the server/,
      )
    },
    30_000,
  )

  it('a socket that is not there', async () => {
    expect(await words('unix:/nowhere/x.sock')).toMatch(/cannot connect to unix:\/nowhere\/x\.sock/)
  }, 30_000)

  it.each(['', 'http://', 'grpc://'])(
    'an HTML page, as %s…',
    async (scheme) => {
      const server = createServer((_, response) =>
        response.setHeader('content-type', 'text/html').end('<!doctype html><title>Docs</title>'),
      )
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      onTestFinished(() => void server.close())
      const at = `127.0.0.1:${(server.address() as AddressInfo).port}`
      expect(await words(`${scheme}${at}`)).toMatch(/HTML page.*pass the URL of the OpenAPI document itself/)
    },
    30_000,
  )

  it('a document with a mistake in it, at the root of a host', async () => {
    const server = createServer((_, response) =>
      response.setHeader('content-type', 'application/json').end('{"openapi":"9"}'),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    expect(await words(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)).not.toMatch(/gRPC/)
  }, 30_000)

  it('a web site over HTTP/2 is no gRPC server', async () => {
    const server = createHttp2Server((_, response) => {
      response.writeHead(404, { 'content-type': 'text/html' })
      response.end('<!doctype html>')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const at = `grpc://127.0.0.1:${(server.address() as AddressInfo).port}`
    expect(await words(at)).toMatch(/HTTP status 404 .*but no grpc-status/)
  }, 30_000)

  it('a gRPC server that does not describe itself', async () => {
    const backend = await startGrpcBackend({ protos: HELLO, handlers: {} })
    onTestFinished(() => backend.stop())
    for (const scheme of ['', 'http://'])
      expect(await words(`${scheme}${backend.address}`)).toMatch(
        /gRPC server.*UNIMPLEMENTED.*enable reflection, or pass/,
      )
  }, 30_000)

  it('a certificate that nobody vouches for', async () => {
    const { directory } = await emptyFolder()
    const server = await startReflectionServer(
      await descriptorSetOf({ 'hello.proto': HELLO }),
      'v1',
      undefined,
      {
        credentials: tlsOf(directory),
      },
    )
    onTestFinished(() => server.close())
    expect(await words(`https://${server.address}`)).toMatch(
      /was rejected \(DEPTH_ZERO_SELF_SIGNED_CERT\).*NODE_EXTRA_CA_CERTS/,
    )
  }, 30_000)
})
