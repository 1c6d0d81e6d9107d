import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Deployment } from 'kubernetes-models/apps/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { ConfigMap, Service } from 'kubernetes-models/v1'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { loadConfig } from '../src/config/file/load-config.ts'
import { OWN_SCHEMA, startGateway } from './support/gateway.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const MANIFESTS = join(ROOT, 'deploy/kubernetes')
const MODELS: Record<string, new (data: any) => { validate(): void }> = {
  ConfigMap,
  Deployment,
  PodDisruptionBudget,
  Service,
}

async function manifests(): Promise<any[]> {
  const files = await readdir(MANIFESTS)
  const texts = await Promise.all(files.map((file) => readFile(join(MANIFESTS, file), 'utf8')))
  return texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS()))
}

function validate(manifest: any): void {
  const Model = MODELS[manifest.kind]
  if (!Model) throw new Error(`no schema for ${manifest.kind}`)
  new Model(manifest).validate()
}

async function gatewayDeployment(): Promise<any> {
  return (await manifests()).find(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'vinyasa-gateway',
  )
}

describe('the Kubernetes manifests', () => {
  it('keep to the schema of Kubernetes', async () => {
    const all = await manifests()
    expect(all.map(({ kind }) => kind).toSorted()).toEqual([
      'ConfigMap',
      'Deployment',
      'Deployment',
      'PodDisruptionBudget',
      'Service',
      'Service',
    ])
    for (const manifest of all) expect(() => validate(manifest)).not.toThrow()
  })

  it('would be refused with a mistake in them', async () => {
    const broken = await gatewayDeployment()
    broken.spec.template.spec.containers[0].readinessProbe.periodSeconds = 'often'
    expect(() => validate(broken)).toThrow(/periodSeconds/)
  })

  it('probe paths that the gateway answers, and leave it time to drain', async () => {
    const { server } = await startGateway(OWN_SCHEMA)
    const { spec } = (await gatewayDeployment()).spec.template
    const [container] = spec.containers
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      expect((await fetch(`${server.url}${container[probe].httpGet.path}`)).status).toBe(200)
    }
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(30)
  })

  it('hold a config that is valid, with the Redis of the other manifest', async () => {
    const all = await manifests()
    const text = all.find(({ kind }) => kind === 'ConfigMap').data['gateway.config.yaml']
    const { env } = (await gatewayDeployment()).spec.template.spec.containers[0]
    const environment = Object.fromEntries(env.map(({ name, value }: any) => [name, value]))
    const directory = await mkdtemp(join(tmpdir(), 'vinyasa-config-map-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    await writeFile(join(directory, 'gateway.config.yaml'), text)
    const { config } = await loadConfig({ directory, environment })
    const redis = all.find(({ kind, metadata }) => kind === 'Service' && metadata.name === 'vinyasa-redis')
    expect(config.redisUrl).toBe(`redis://${redis.metadata.name}:${redis.spec.ports[0].port}`)
  })
})
