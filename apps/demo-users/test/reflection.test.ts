import { createFileRegistry, create, fromBinary, getOption, type DescMethod } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { Client, credentials, loadPackageDefinition } from '@grpc/grpc-js'
import { createDisposables } from '@vinyasa/test-kit'
import { service as healthService } from 'grpc-health-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  ServerReflectionRequest,
  ServerReflectionResponse,
  type ServerReflectionRequest as Request,
} from '../src/gen/grpc/reflection/v1/reflection.ts'
import { startUsersServer, type UsersServer } from '../src/server.ts'

const disposables = createDisposables(afterAll)
let server: UsersServer
let client: Client

beforeAll(async () => {
  server = disposables.use(await startUsersServer({ host: '127.0.0.1', port: 0 }))
  client = disposables.use(new Client(`127.0.0.1:${server.port}`, credentials.createInsecure()))
})

function ask(messageRequest: Request['messageRequest'], version = 'v1'): Promise<ServerReflectionResponse> {
  return new Promise((resolve, reject) => {
    const call = client.makeBidiStreamRequest(
      `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
      (request: Request) => Buffer.from(ServerReflectionRequest.encode(request).finish()),
      (bytes) => ServerReflectionResponse.decode(bytes),
    )
    call.on('data', resolve).on('error', reject)
    call.write({ host: '', messageRequest })
    call.end()
  })
}

async function registryOf(symbol: string) {
  const { messageResponse } = await ask({ $case: 'fileContainingSymbol', value: symbol })
  if (messageResponse?.$case !== 'fileDescriptorResponse') throw new Error(JSON.stringify(messageResponse))
  const file = messageResponse.value.fileDescriptorProto.map((bytes) =>
    fromBinary(FileDescriptorProtoSchema, bytes),
  )
  return createFileRegistry(create(FileDescriptorSetSchema, { file: file.reverse() }))
}

it.each(['v1', 'v1alpha'])('lists its services (%s)', async (version) => {
  const { messageResponse } = await ask({ $case: 'listServices', value: '*' }, version)
  expect(messageResponse).toMatchObject({
    $case: 'listServicesResponse',
    value: { service: expect.arrayContaining([{ name: 'demo.users.v1.UserService' }]) },
  })
})

it('gives files by symbol, with their imports, custom options and comments intact', async () => {
  for (const symbol of [
    'demo.users.v1.UserService',
    'demo.users.v1.UserService.ListUsers',
    'demo.users.v1.User',
  ]) {
    const registry = await registryOf(symbol)
    const service = registry.getService('demo.users.v1.UserService')
    const method = service?.methods.find(({ name }) => name === 'ListUsers') as DescMethod
    const schema = registry.getExtension('graphql.schema')
    expect(getOption(method, schema!)).toMatchObject({ name: 'users' })
    const comments = service?.file.proto.sourceCodeInfo?.location.map(
      ({ leadingComments }) => leadingComments,
    )
    expect(comments).toContain(' The people of the demo shop.\n')
  }
})

it('gives files by extension, and the numbers of a type’s extensions', async () => {
  const containingType = 'google.protobuf.MethodOptions'
  const numbers = await ask({ $case: 'allExtensionNumbersOfType', value: containingType })
  expect(numbers.messageResponse).toMatchObject({ value: { extensionNumber: [1079, 1080] } })
  const file = await ask({
    $case: 'fileContainingExtension',
    value: { containingType, extensionNumber: 1080 },
  })
  expect(file.messageResponse?.$case).toBe('fileDescriptorResponse')
})

it('says so when there is no such thing', async () => {
  const { messageResponse } = await ask({ $case: 'fileByFilename', value: 'nope.proto' })
  expect(messageResponse).toEqual({
    $case: 'errorResponse',
    value: { errorCode: 5, errorMessage: 'Not found: nope.proto' },
  })
})

it('answers health checks', async () => {
  const loaded = loadPackageDefinition({ 'grpc.health.v1.Health': healthService })
  const Health = (loaded as any).grpc.health.v1.Health
  const health = disposables.use(new Health(`127.0.0.1:${server.port}`, credentials.createInsecure()))
  const check = (service: string) =>
    new Promise((resolve, reject) => {
      health.check({ service }, (error: Error | null, answer: unknown) =>
        error ? reject(error) : resolve(answer),
      )
    })
  expect(await check('demo.users.v1.UserService')).toEqual({ status: 'SERVING' })
  await expect(check('nope')).rejects.toMatchObject({ code: 5 })
})
