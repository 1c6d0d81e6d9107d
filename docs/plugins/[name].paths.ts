import { INTEGRATION, PLUGINS, readmePage } from '../src/repository.ts'

/** The READMEs of the packages as pages. */
const loader: { readonly watch?: string[]; readonly paths: () => object[] } = {
  watch: ['../../packages/*/README.md'],
  paths: () =>
    [...PLUGINS, ...INTEGRATION].map((name) => ({
      params: { name },
      content: readmePage(`packages/${name}`),
    })),
}
export default loader
