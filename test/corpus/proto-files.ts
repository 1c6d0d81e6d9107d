import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Protos of one npm package: where imports are looked up, and the files that define services. */
export interface ProtoCorpus {
  readonly name: string
  readonly includePaths: readonly string[]
  /** Paths as others would import them. */
  readonly services: readonly string[]
}

const MODULES = fileURLToPath(new URL('node_modules', import.meta.url))

/** Folders of protos by package, without the files whose imports no npm package carries. */
const PACKAGES: readonly {
  name: string
  folders: readonly string[]
  imports?: readonly string[]
  without?: RegExp
}[] = [
  { name: 'google-proto-files', folders: ['google-proto-files'] },
  {
    name: '@grpc/grpc-js-xds',
    folders: ['envoy-api', 'xds', 'protoc-gen-validate'].map((folder) => `@grpc/grpc-js-xds/deps/${folder}`),
    imports: ['google-proto-files'],
    without: /\/v2(alpha)?\/|metrics_service|trace_service/,
  },
  { name: 'etcd3', folders: ['etcd3/proto'] },
  { name: '@dapr/dapr', folders: ['@dapr/dapr/proto'] },
  { name: '@hashgraph/proto', folders: ['@hashgraph/proto/src/proto'] },
  { name: 'lnd-grpc', folders: ['lnd-grpc/proto/0.14.4-beta'], imports: ['google-proto-files'] },
  { name: 'zeebe-node', folders: ['zeebe-node/proto'] },
  {
    name: '@opentelemetry/otlp-grpc-exporter-base',
    folders: ['@opentelemetry/otlp-grpc-exporter-base/build/protos'],
  },
  { name: 'clarifai-nodejs-grpc', folders: ['clarifai-nodejs-grpc'], imports: ['google-proto-files'] },
  {
    name: '@temporalio/core-bridge',
    folders: ['api_upstream', 'testsrv_upstream', 'api_cloud_upstream'].map(
      (folder) => `@temporalio/core-bridge/sdk-core/crates/protos/protos/${folder}`,
    ),
    imports: ['@temporalio/core-bridge/sdk-core/crates/protos/protos', 'google-proto-files'],
  },
]

export function readCorpora(): readonly ProtoCorpus[] {
  return PACKAGES.map(({ name, folders, imports = [], without }) => {
    const own = folders.map((folder) => join(MODULES, folder))
    const includePaths = [...own, ...imports.map((folder) => join(MODULES, folder))]
    const services = own.flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.proto') && !path.includes('node_modules') && !without?.test(path))
        .filter((path) => /^service\s+\w+\s*\{/m.test(readFileSync(join(folder, path), 'utf8')))
        .map((path) => path.replaceAll('\\', '/')),
    )
    return { name, includePaths, services: services.toSorted() }
  })
}

/** Every `step`th, so that a short run sees all kinds. */
export function sample<T>(items: readonly T[], step: number): readonly T[] {
  return items.filter((_, index) => index % step === 0)
}
