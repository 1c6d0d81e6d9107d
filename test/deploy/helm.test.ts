import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import * as fc from 'fast-check'
import { Deployment } from 'kubernetes-models/apps/v1'
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { ConfigMap, Service } from 'kubernetes-models/v1'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { loadConfig } from '../../apps/gateway/src/config/file/load-config.ts'
import { createGateway } from '../../apps/gateway/src/gateway.ts'
import { createLogger } from '../../apps/gateway/src/logging/logger.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const CHART = join(ROOT, 'deploy/helm/vinyasa')
const SPRIG = '/usr/share/gocode/src/github.com/Masterminds/sprig'
const MODELS: Readonly<Record<string, new (data: any) => { validate(): void }>> = {
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
}

type Values = Record<string, any>

const text = (file: string): string => readFileSync(join(CHART, file), 'utf8')
const defaults = parse(text('values.yaml')) as Values
const isValid = new Ajv({ strict: true, allowUnionTypes: true }).compile(
  JSON.parse(text('values.schema.json')),
)

/** Values over the chart's own, as Helm lays them. */
function merged(over: Values, under: Values = defaults): Values {
  const both = { ...under }
  for (const [key, value] of Object.entries(over)) {
    const isMap = (one: unknown): one is Values =>
      typeof one === 'object' && one !== null && !Array.isArray(one)
    both[key] = isMap(value) && isMap(under[key]) ? merged(value, under[key]) : value
  }
  return both
}

interface Rendered {
  readonly error?: string
  readonly files?: Readonly<Record<string, string>>
}

function render(all: readonly Values[], release = 'shop'): Rendered[] {
  const { name, version } = parse(text('Chart.yaml')) as { name: string; version: string }
  const contexts = all.map((values) => ({
    Values: merged(values),
    Release: { Name: release, Namespace: 'default', Service: 'Helm' },
    Chart: { Name: name, Version: version },
  }))
  const program = fileURLToPath(new URL('helm/render.go', import.meta.url))
  const out = execFileSync('go', ['run', program, CHART], {
    input: JSON.stringify(contexts),
    env: { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode' },
    maxBuffer: 1e9,
  })
  return JSON.parse(out.toString()) as Rendered[]
}

/** What a cluster would be given, by kind. */
function manifestsOf({ error, files = {} }: Rendered): Readonly<Record<string, any>> {
  expect(error).toBeUndefined()
  const byKind: Record<string, any> = {}
  for (const [file, yaml] of Object.entries(files)) {
    if (!file.endsWith('.yaml')) continue
    for (const document of parseAllDocuments(yaml)) {
      expect({ yaml, errors: document.errors, warnings: document.warnings }).toMatchObject({
        errors: [],
        warnings: [],
      })
      const manifest = document.toJS()
      if (manifest !== null) byKind[manifest.kind] = manifest
    }
  }
  return byKind
}

const CONFIG =
  'rest: { shop: { base_url: "${SHOP_URL}", health_path: false, endpoints: [{ name: item, path: /i }] } }\n'
const files = { 'gateway.config.yaml': CONFIG }

const key = fc.stringMatching(/^[a-z]{1,8}$/)
/** Whatever may stand in a file or a variable: quotes, colons, braces of templates, many lines. */
const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('yes', '1e3', '{{ .Values }}', 'a: b\n- c\n', '#', ' '),
)
const rules = fc.array(
  fc.constantFrom({ from: [{ podSelector: {} }] }, { ports: [{ port: 4000, protocol: 'TCP' }] }),
  { maxLength: 2 },
)
const egress = fc.array(fc.constantFrom({}, { to: [{ podSelector: { matchLabels: { app: 'users' } } }] }), {
  maxLength: 2,
})
const texts = fc.dictionary(key, anyText, { maxKeys: 3 })
const labels = fc.dictionary(key, key, { maxKeys: 2 })

const anyValues: fc.Arbitrary<Values> = fc.record(
  {
    image: fc.record({
      repository: fc.constantFrom('vinyasa-gateway', 'registry.example:5000/a/b'),
      tag: fc.constantFrom('1', '1.10', 'latest'),
    }),
    imagePullSecrets: fc.array(fc.record({ name: key }), { maxLength: 2 }),
    files: fc.dictionary(key, anyText, { maxKeys: 3 }).map((more) => ({ ...more, ...files })),
    existingConfigMap: fc.constantFrom('', 'own'),
    preset: fc.constantFrom('production', 'development'),
    env: fc.dictionary(fc.stringMatching(/^[A-Z_]{1,8}$/), fc.oneof(anyText, fc.boolean()), { maxKeys: 3 }),
    envFromSecrets: fc.array(key, { maxLength: 2 }),
    replicaCount: fc.nat(20),
    autoscaling: fc.record({
      enabled: fc.boolean(),
      minReplicas: fc.constantFrom(1, 2),
      maxReplicas: fc.constantFrom(2, 50),
    }),
    podDisruptionBudget: fc.record({ enabled: fc.boolean(), minAvailable: fc.constantFrom(0, 1, '50%') }),
    service: fc.record({
      type: fc.constantFrom('ClusterIP', 'NodePort', 'LoadBalancer'),
      port: fc.constantFrom(80, 65_535),
      annotations: texts,
    }),
    networkPolicy: fc.record({ enabled: fc.boolean(), ingress: rules, egress }),
    terminationGracePeriodSeconds: fc.constantFrom(31, 3600),
    resources: fc.constantFrom({}, { limits: { cpu: 2, memory: '1Gi' } }),
    podAnnotations: texts,
    nodeSelector: labels,
    tolerations: fc.constantFrom([], [{ key: 'a', operator: 'Exists' }]),
    affinity: fc.constantFrom(
      {},
      {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, podAffinityTerm: { topologyKey: 'zone' } },
          ],
        },
      },
    ),
    topologySpreadConstraints: fc.constantFrom(
      [],
      [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }],
    ),
  },
  { requiredKeys: ['files'] },
)

const hasTools = existsSync(SPRIG) || process.env['CI'] !== undefined
if (!hasTools)
  process.stderr.write(
    '\n!!! SKIPPED the Helm chart: apt-get install golang-go golang-github-masterminds-sprig-dev\n',
  )

describe.skipIf(!hasTools)('the Helm chart', { timeout: 300_000 }, () => {
  it('makes what a cluster takes of any values that its schema allows', () => {
    const drawn = fc.sample(anyValues, { numRuns: 200, seed: 1 })
    for (const [index, rendered] of render(drawn).entries()) {
      const values = merged(drawn[index] as Values)
      expect([isValid(values), isValid.errors]).toEqual([true, null])
      const all = manifestsOf(rendered)
      for (const [kind, manifest] of Object.entries(all)) {
        const Model = MODELS[kind]
        if (!Model) throw new Error(`no schema for ${kind}`)
        expect(() => new Model(manifest).validate()).not.toThrow()
      }
      expect(Object.keys(all).toSorted()).toEqual(
        [
          ...(values['existingConfigMap'] ? [] : ['ConfigMap']),
          'Deployment',
          ...(values['autoscaling'].enabled ? ['HorizontalPodAutoscaler'] : []),
          ...(values['networkPolicy'].enabled ? ['NetworkPolicy'] : []),
          ...(values['podDisruptionBudget'].enabled ? ['PodDisruptionBudget'] : []),
          'Service',
        ].toSorted(),
      )
      const { spec } = all['Deployment']
      // What is chosen by labels is there, and what stands in values arrives to the letter.
      const { labels: given, annotations } = spec.template.metadata
      for (const selector of [
        spec.selector.matchLabels,
        all['Service'].spec.selector,
        all['PodDisruptionBudget']?.spec.selector.matchLabels ?? {},
        all['NetworkPolicy']?.spec.podSelector.matchLabels ?? {},
      ])
        expect(given).toMatchObject(selector)
      const [container] = spec.template.spec.containers
      const env = Object.entries(values['env']).map(([name, value]) => ({ name, value: String(value) }))
      expect(container.env ?? []).toEqual(env.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
      expect(container.envFrom ?? []).toEqual(
        values['envFromSecrets'].map((name: string) => ({ secretRef: { name } })),
      )
      expect(annotations).toMatchObject(values['podAnnotations'])
      expect(spec.replicas).toBe(values['autoscaling'].enabled ? undefined : values['replicaCount'])
      expect(all['ConfigMap']?.data ?? values['files']).toEqual(values['files'])
      const [{ configMap }] = spec.template.spec.volumes
      expect(configMap.name).toBe(values['existingConfigMap'] || all['ConfigMap'].metadata.name)
      expect(spec.template.spec.securityContext.runAsNonRoot).toBe(true)
      expect(container.securityContext).toMatchObject({
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
      })
    }
  })

  it('starts new pods when a file changes, and no others', () => {
    const [one, same, other] = render([
      { files },
      { files, replicaCount: 5 },
      { files: { 'gateway.config.yaml': 'a' } },
    ]).map((rendered) => manifestsOf(rendered)['Deployment'].spec.template) as any[]
    expect(same).toEqual(one)
    expect(other.metadata.annotations).not.toEqual(one.metadata.annotations)
  })

  it('says what is missing', () => {
    const [{ error = '' } = {}] = render([{}])
    expect(error).toContain("Give the config: --set-file 'files.gateway\\.config\\.yaml=gateway.config.yaml'")
  })

  it.each(['a'.repeat(53), 'vinyasa', 'my-vinyasa'])(
    'has names that are allowed with the release %s',
    (release) => {
      const [rendered] = render([{ files, autoscaling: { enabled: true } }], release)
      for (const { metadata } of Object.values(manifestsOf(rendered as Rendered))) {
        expect(metadata.name).toMatch(/^[a-z0-9][-a-z0-9]{0,61}[a-z0-9]$/)
      }
    },
  )

  it.each([
    { replicas: 3 },
    { image: { tag: 1 } },
    { env: { MAX: 1e6 } },
    { files: { 'a/b.proto': '' } },
    { service: { port: 0 } },
    { preset: 'prod' },
    { podDisruptionBudget: { minAvailable: 'half' } },
  ])('its schema refuses %j', (values) => {
    expect(isValid(merged(values))).toBe(false)
  })

  it('its schema names every value of the chart', () => {
    const schema = JSON.parse(text('values.schema.json'))
    expect(Object.keys(schema.properties).toSorted()).toEqual(['global', ...Object.keys(defaults)].toSorted())
    for (const [name, value] of Object.entries(defaults)) {
      const { properties } = schema.properties[name]
      expect(Object.keys(properties ?? value).toSorted()).toEqual(Object.keys(value).toSorted())
    }
  })

  it('probes paths that the gateway answers, with a config that it takes', async () => {
    const [rendered] = render([{ files, env: { SHOP_URL: 'http://127.0.0.1:1' } }])
    const { ConfigMap: map, Deployment: deployment } = manifestsOf(rendered as Rendered)
    const directory = mkdtempSync(join(tmpdir(), 'vinyasa-chart-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    for (const [name, content] of Object.entries<string>(map.data))
      writeFileSync(join(directory, name), content)
    const [container] = deployment.spec.template.spec.containers
    const environment = Object.fromEntries(container.env.map(({ name, value }: any) => [name, value]))
    const { config } = await loadConfig({ directory, environment })
    const gateway = await createGateway(config, {
      baseDirectory: directory,
      logger: await createLogger({ level: 'silent' }),
    })
    onTestFinished(() => gateway.close())
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      const { path } = container[probe].httpGet
      expect((await gateway.fetch(new Request(`http://gateway${path}`))).status).toBe(200)
    }
    expect(container.args).toEqual(['start', '--host', '0.0.0.0', '--port', '4000', '--preset', 'production'])
    expect(deployment.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(30)
  })
})
