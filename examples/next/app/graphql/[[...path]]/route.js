import { yoga } from '../../../yoga.js'

const answer = (request) => yoga.fetch(request)

export { answer as GET, answer as OPTIONS, answer as POST }
