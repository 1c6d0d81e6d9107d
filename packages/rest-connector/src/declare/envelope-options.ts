import type { Described } from './described.ts'

/**
 * Makes the field an object with the response body as `body`, and with its headers, next page and links. Endpoints that share
 * an envelope type must declare the same headers, links and `next`, each of which uses the endpoint that returned the object.
 */
export interface EnvelopeOptions {
  /** Name of the object type. Default: the endpoint's in Pascal case and `Reply` (`ListPetsReply`). */
  readonly typeName?: string | undefined
  /**
   * Response headers to add as fields of `headers`. A list of names gives `String` fields in camel case (`X-Total-Count` is
   * `xTotalCount: String`). An object declares the header and type of each field. Default: none.
   */
  readonly headers?: readonly string[] | Readonly<Record<string, EnvelopeHeader>> | undefined
  /**
   * Adds a field `next` of the same type for GET endpoints. It follows the `Link` header with `rel="next"` (RFC 8288), within
   * the base URL only. It is null on the last page. Default false.
   */
  readonly next?: boolean | undefined
  /** Fields that call other endpoints of the connector with values of this response. Default: none. */
  readonly links?: Readonly<Record<string, EnvelopeLink>> | undefined
}

/** One response header as a field. */
export interface EnvelopeHeader extends Described {
  /** The name of the header. */
  readonly header: string
  /** A nullable scalar or list of scalars: `Int`, `[String]`. Lists are split at commas. Default `String`. */
  readonly type?: string | undefined
}

/** A field that calls another endpoint, which must be a query. */
export interface EnvelopeLink extends Described {
  /** The name of the endpoint to call. */
  readonly endpoint: string
  /**
   * Values for arguments of the endpoint. Other arguments become arguments of the field. The field is null if a required value
   * is missing.
   */
  readonly args: Readonly<Record<string, LinkValue>>
}

/** The source of a link's argument. */
export type LinkValue =
  | LinkPart
  | {
      /** Strings and values to concatenate. The result is null if a value is missing. */
      readonly text: readonly (string | LinkPart)[]
    }

/** A value of a call or of its response. Paths have the syntax of `responsePath`. */
export type LinkPart =
  | {
      /** A path within the body. */
      readonly body: string
    }
  | {
      /** The name of a response header. */
      readonly header: string
    }
  | {
      /** The name of an argument of the call. */
      readonly arg: string
      /** A path within the argument. Default: the complete argument. */
      readonly path?: string | undefined
    }
  | {
      /** The requested URL, or the status of the response. */
      readonly exchange: 'url' | 'status'
    }
  | {
      /** The value itself. */
      readonly value: unknown
    }
