import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFileRegistry, fromBinary, fromJson, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { createGrpcSource } from '@vinyasa/grpc-source'
import { createDisposables } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { startBytesServer } from '../../packages/grpc-source/test/bytes-server.ts'
import { messages } from '../../packages/grpc-source/test/torture/random-messages.ts'
import { readCorpora } from './proto-files.ts'

const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 100)
const corpora = readCorpora()

it.each([
  ['google-proto-files', 'google/firestore/v1/query.proto', 'google.firestore.v1.StructuredQuery'],
  ['lnd-grpc', 'lnrpc/lightning.proto', 'lnrpc.Invoice'],
  ['clarifai-nodejs-grpc', 'proto/clarifai/api/resources.proto', 'clarifai.api.Data'],
  [
    '@opentelemetry/otlp-grpc-exporter-base',
    'opentelemetry/proto/trace/v1/trace.proto',
    'opentelemetry.proto.trace.v1.ResourceSpans',
  ],
  [
    '@temporalio/core-bridge',
    'temporal/api/workflowservice/v1/request_response.proto',
    'temporal.api.workflowservice.v1.StartWorkflowExecutionRequest',
  ],
])('%s, %s: any %s is sent back as it was read', { timeout: 600_000 }, async (name, file, type) => {
  const opened = createDisposables(onTestFinished)
  const folder = mkdtempSync(join(tmpdir(), 'vinyasa-sent-back-'))
  opened.use(() => rmSync(folder, { recursive: true, force: true }))
  const corpus = corpora.find((one) => one.name === name)!
  const echo = `syntax = "proto3"; package echo; import "${file}"; service Echo { rpc Get(.${type}) returns (.${type}); }`
  writeFileSync(join(folder, 'echo.proto'), echo)
  const out = join(folder, 'set.binpb')
  const paths = [folder, ...corpus.includePaths].map((path) => `-I${path}`)
  execFileSync('protoc', [...paths, '--include_imports', `--descriptor_set_out=${out}`, 'echo.proto'], {
    stdio: 'pipe',
  })
  const descriptorSet = readFileSync(out)
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptorSet))
  const desc = registry.getMessage(type)!
  let reply: Uint8Array = new Uint8Array()
  const server = opened.use(await startBytesServer('/echo.Echo/Get', () => reply))
  const logger = { warn() {}, error() {} }
  const grpc = opened.use(
    await createGrpcSource({
      name: 'corpus',
      endpoint: server.address,
      descriptorSet,
      expose: ['echo.Echo'],
      logger,
    }),
  )
  await fc.assert(
    fc.asyncProperty(messages(desc, 3), async (json) => {
      reply = toBinary(desc, fromJson(desc, json, { registry }))
      const read = await grpc.call('echo.Echo.Get', {})
      await grpc.call('echo.Echo.Get', read as Readonly<Record<string, unknown>>)
      const sent = fromBinary(desc, server.requests.at(-1) as Uint8Array)
      expect(Buffer.from(toBinary(desc, sent)).toString('hex')).toBe(Buffer.from(reply).toString('hex'))
    }),
    { numRuns: RUNS },
  )
})
