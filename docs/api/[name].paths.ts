import { readApiPages } from '../src/api-reference.ts'

/** Made from the types. */
const loader: { readonly watch?: string[]; readonly paths: () => object[] } = {
  paths: () => readApiPages().map(({ name, markdown }) => ({ params: { name }, content: markdown })),
}
export default loader
