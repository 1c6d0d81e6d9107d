import { yoga } from './yoga.js'

export default { fetch: (request) => yoga.fetch(request) }
