import type { StyleOptions } from '../parameters/parameter-options.ts'

/**
 * The encoding of a property of a form or multipart body ("Encoding Object" of the OpenAPI specification). Styles apply to
 * forms, and are the same as for a query.
 */
export interface EncodingOptions extends StyleOptions {
  /** The media type of a multipart body's part. Default: the file's media type, or one that fits the value. */
  readonly contentType?: string | undefined
}

/** Sends one argument as the body. */
export interface BodyOptions {
  /** The argument. Default `input`. The request has no body if the argument is absent or null. */
  readonly arg?: string | undefined
  /**
   * The media type: JSON and `+json` types, `application/x-www-form-urlencoded`, `multipart/*`, or text (`text/*`, XML, YAML,
   * JSON lines). Other types accept a file (an `Upload`, or a base64 string) and send its bytes. Default `application/json`.
   */
  readonly contentType?: string | undefined
  /** Sends a file body as base64 text. Default false; the bytes are sent unchanged. */
  readonly isBase64?: boolean | undefined
  /** Encodings by property, for forms and multipart. */
  readonly encoding?: Readonly<Record<string, EncodingOptions>> | undefined
}
