import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { printSchema } from 'graphql'
import { beforeAll, describe, expect, it } from 'vitest'
import { createGrpcSource } from '../../src/index.ts'
import { disposables, source } from '../harness.ts'
import { startReflectionServer } from '../reflection-server.ts'
import { buildDescriptorSet, generateTsProto, INCLUDE_PATHS } from './generate.ts'

let descriptorSet: string
let fromText: string

beforeAll(async () => {
  descriptorSet = buildDescriptorSet()
  const grpc = await createGrpcSource({
    name: 'torture',
    protoFiles: ['torture/v1/torture.proto'],
    includePaths: INCLUDE_PATHS,
  })
  fromText = printSchema(grpc.schema)
  await grpc.close()
}, 240_000)

describe('the torture proto gives the same schema from every input', () => {
  it('.proto text', () => {
    expect(fromText).toMatchSnapshot()
  })

  it('a descriptor set, as a path and as bytes', async () => {
    for (const input of [descriptorSet, readFileSync(descriptorSet)]) {
      expect(printSchema((await source({ descriptorSet: input })).schema)).toBe(fromText)
    }
  })

  it.each([['v1'], ['v1alpha']] as const)('server reflection %s', async (version) => {
    const server = disposables().use(await startReflectionServer(readFileSync(descriptorSet), version))
    const grpc = await source({
      endpoint: server.address,
      reflection: { services: ['torture.v1.TortureService'], metadata: { 'x-token': 'secret' } },
    })
    expect(printSchema(grpc.schema)).toBe(fromText)
    expect(server.tokens).toContain('secret')
  })

  it.each([
    ['defaults', []],
    [
      'oneof=unions-value, forceLong=bigint, useOptionals=all',
      ['oneof=unions-value', 'forceLong=bigint', 'useOptionals=all'],
    ],
  ])('ts-proto metadata, %s', { timeout: 240_000 }, async (name, options) => {
    const tsProto = generateTsProto(name.replace(/\W+/g, '-'), options)
    const { protoMetadata } = await import(/* @vite-ignore */ join(tsProto, 'torture/v1/torture.ts'))
    expect(printSchema((await source({ protoMetadata: [protoMetadata] })).schema)).toBe(fromText)
  })

  it('a descriptor set whose well-known files were left out', async () => {
    const set = fromBinary(FileDescriptorSetSchema, readFileSync(descriptorSet))
    const file = set.file.filter(({ name }) => !name.startsWith('google/protobuf/'))
    const bytes = toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }))
    expect(printSchema((await source({ descriptorSet: bytes })).schema)).toBe(fromText)
  })
})
