import { configReference } from '../src/config-reference.ts'
import { metricsReference } from '../src/metrics-reference.ts'
import { readmePage } from '../src/repository.ts'

/** The gateway's README, and the references that are generated from its code. */
const loader: { readonly watch?: string[]; readonly paths: () => object[] } = {
  watch: [
    '../../apps/gateway/README.md',
    '../../apps/gateway/src/config/*.ts',
    '../../apps/gateway/src/observability/metrics/definitions.ts',
  ],
  paths: () => [
    { params: { page: 'index' }, content: readmePage('apps/gateway') },
    { params: { page: 'config' }, content: configReference() },
    { params: { page: 'metrics' }, content: metricsReference() },
  ],
}
export default loader
