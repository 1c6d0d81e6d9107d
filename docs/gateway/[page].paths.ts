import { configReference } from '../src/config-reference.ts'
import { readmePage } from '../src/repository.ts'

/** The gateway's README, and the reference that is made from its types. */
const loader: { readonly watch?: string[]; readonly paths: () => object[] } = {
  watch: ['../../apps/gateway/README.md', '../../apps/gateway/src/config/*.ts'],
  paths: () => [
    { params: { page: 'index' }, content: readmePage('apps/gateway') },
    { params: { page: 'config' }, content: configReference() },
  ],
}
export default loader
