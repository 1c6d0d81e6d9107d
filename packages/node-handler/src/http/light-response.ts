import type { FetchAPI } from 'graphql-yoga'
import { standInFor } from './stand-in.ts'

/** A complete response with one media type. It creates a full `Response` when a rarely used property is read. */
export interface LightResponse extends Response {
  /** The response to send, unless a full `Response` exists. */
  readonly light: LightBody
  /** Returns the full response, and creates it if necessary. */
  readonly materialised: Response
}

export interface LightBody {
  readonly bytes: string | Uint8Array
  readonly mediaType: string
  headers: Headers | undefined
  /** The full response. It is created when a rarely used property is read. */
  response: Response | undefined
}

export type CreateLightResponse = (bytes: string | Uint8Array, mediaType: string) => LightResponse

/** Returns a function that creates responses with status 200. They pass `instanceof fetchAPI.Response`. */
export function createLightResponses(fetchAPI: FetchAPI): CreateLightResponse {
  class Light {
    status = 200
    statusText = 'OK'
    readonly light: LightBody

    constructor(bytes: string | Uint8Array, mediaType: string) {
      this.light = { bytes, mediaType, headers: undefined, response: undefined }
    }

    get [Symbol.toStringTag](): string {
      return 'Response'
    }

    get headers(): Headers {
      return (this.light.headers ??= new fetchAPI.Headers(headersOf(this.light)))
    }

    set headers(headers: Headers) {
      this.light.headers = headers
    }

    get ok(): boolean {
      return this.status >= 200 && this.status < 300
    }

    // Yoga's class also returns the same response.
    clone(): this {
      return this
    }

    get materialised(): Response {
      const { light, status, statusText, headers } = this
      // The response gets new headers, because it adds headers, and hooks can have removed some.
      light.response ??= new fetchAPI.Response(light.bytes as string, { headers: headersOf(light) })
      return Object.assign(light.response, { status, statusText, headers })
    }
  }

  const sample = new fetchAPI.Response('text', { headers: {} })
  standInFor(Light.prototype, sample, ['status', 'statusText'], (light) => light.materialised)
  return (bytes, mediaType) => new Light(bytes, mediaType) as unknown as LightResponse
}

export function isLightResponse(response: Response): response is LightResponse {
  return 'light' in response
}

/** Returns a new object for each call, because Yoga's class of headers writes into the given object. */
export function headersOf({ bytes, mediaType }: LightBody): Record<string, string> {
  const length = typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.byteLength
  return { 'Content-Type': `${mediaType}; charset=utf-8`, 'content-length': String(length) }
}
