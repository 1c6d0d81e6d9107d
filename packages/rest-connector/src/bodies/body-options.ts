import type { StyleOptions } from '../parameters/parameter-options.ts'

/**
 * How one property of a form or multipart body is written ("Encoding Object" of the OpenAPI specification); the styles are
 * for forms, and those of a query.
 */
export interface EncodingOptions extends StyleOptions {
  /** The media type of a multipart body's part. Default: that of the file, or by the value's kind. */
  readonly contentType?: string | undefined
}

/** A body that is one argument. */
export interface BodyOptions {
  /** The argument. Default `input`. One that is absent or null sends no body. */
  readonly arg?: string | undefined
  /**
   * JSON and what ends in `+json`, `application/x-www-form-urlencoded`, `multipart/*`, text (`text/*`, XML, YAML, JSON
   * lines); any other takes a file (an `Upload`, or base64 text) and sends its bytes. Default `application/json`.
   */
  readonly contentType?: string | undefined
  /** Sends a file that is the body as base64 text. Default false: its bytes go out as they are. */
  readonly isBase64?: boolean | undefined
  /** By property, for forms and multipart. */
  readonly encoding?: Readonly<Record<string, EncodingOptions>> | undefined
}
