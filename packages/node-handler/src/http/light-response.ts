import type { FetchAPI } from 'graphql-yoga'
import { standInFor } from './stand-in.ts'

/** A whole answer of one media type. It becomes a true `Response` when anything unusual is asked of it. */
export interface LightResponse extends Response {
  /** The answer that goes out, unless a true `Response` stands behind it by now. */
  readonly light: LightBody
  /** The true response, made now if there is none. */
  readonly materialised: Response
}

export interface LightBody {
  readonly bytes: string | Uint8Array
  readonly mediaType: string
  headers: Headers | undefined
  /** The true response, once something unusual was asked. */
  response: Response | undefined
}

export type CreateLightResponse = (bytes: string | Uint8Array, mediaType: string) => LightResponse

/** Returns a function that creates responses of status 200; they pass `instanceof fetchAPI.Response`. */
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

    // Yoga's own class returns the same response, too.
    clone(): this {
      return this
    }

    get materialised(): Response {
      const { light, status, statusText, headers } = this
      // With headers of its own: it completes them, and hooks may have taken some away.
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

/** Made anew for each: Yoga's class of headers writes into the object that it is given. */
export function headersOf({ bytes, mediaType }: LightBody): Record<string, string> {
  const length = typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.byteLength
  return { 'Content-Type': `${mediaType}; charset=utf-8`, 'content-length': String(length) }
}
