import { expect, it } from 'vitest'
import * as publicSurface from '../src/index.ts'

it('exports these names and no others', () => {
  expect(Object.keys(publicSurface).sort()).toMatchInlineSnapshot(`
    [
      "RestConfigError",
      "apiKey",
      "bearer",
      "createRestConnector",
      "describeFinding",
      "downloadOpenApi",
      "field",
      "importOpenApi",
      "oauth2ClientCredentials",
      "retryPresets",
      "setHeaders",
      "useRestConnector",
    ]
  `)
})
