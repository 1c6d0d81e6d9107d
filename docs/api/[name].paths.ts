import { readApiPages } from '../src/api-reference.ts'

/** The API reference, generated from the types. */
const loader: { readonly watch?: string[]; readonly paths: () => object[] } = {
  paths: () => readApiPages().map(({ name, markdown }) => ({ params: { name }, content: markdown })),
}
export default loader
