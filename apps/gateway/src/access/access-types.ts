import type { Identity } from '../context/identity.ts'

/** One who issues tokens. */
export interface IssuerConfig {
  /** The claim `iss` of its tokens, to the letter. */
  readonly issuer: string
  /** Accepted values of the claim `aud`: one of them is enough. */
  readonly audience: string | readonly string[]
  /** Address of its public keys. Default: the one that its `.well-known/openid-configuration` names. */
  readonly jwksUri?: string | undefined
  /** For tokens with HMAC: the secret that this gateway shares with the issuer, in place of public keys. */
  readonly secret?: string | undefined
  /** Accepted algorithms. Default: those of RFC 7518 and 8037 for public keys; with `secret`, `HS256` to `HS512`. */
  readonly algorithms?: readonly string[] | undefined
}

/** JSON Web Tokens (RFC 7519). One that is not valid is refused with 401 on every way in. */
export interface JwtConfig {
  /** The issuers whose tokens are accepted. */
  readonly issuers: readonly IssuerConfig[]
  /** Refuses who sends no token. Default false: fields say whom they are for. */
  readonly required?: boolean | undefined
  /** The request header of the token; on sockets a name in the payload of `connection_init` too. Default `authorization`. */
  readonly header?: string | undefined
  /** The word before the token; empty: none. Default `Bearer`. */
  readonly scheme?: string | undefined
  /** A cookie that may hold the token instead. Needs `graphql.csrfPrevention`. Default: none. */
  readonly cookie?: string | undefined
  /** The claim with the scopes: a list, or a text with spaces. Default `scope`, else `scp`. */
  readonly scopesClaim?: string | undefined
  /**
   * Request headers that are set from claims, whatever the client sent under that name: `{ 'x-user-id': 'sub' }`.
   * Sources that forward them get them. Default: none.
   */
  readonly forwardClaims?: Readonly<Record<string, string>> | undefined
}

/** Authentication: how the gateway knows who asks. */
export interface AuthConfig {
  /** Tokens that clients send. */
  readonly jwt: JwtConfig
}

/** Conditions for a field, or for everything of a type. All that are set must hold. */
export interface AccessRule {
  /** Anyone with a valid token. */
  readonly authenticated?: boolean | undefined
  /** One of the lists, with all scopes of it. A single list: all of its scopes. */
  readonly scopes?: readonly string[] | readonly (readonly string[])[] | undefined
  /** One of the lists, with all policies of it. A single list: all of its policies. */
  readonly policies?: readonly string[] | readonly (readonly string[])[] | undefined
}

/** A policy that looks at one claim. */
export interface ClaimPolicy {
  /** Name or path: `sub`, `realm_access.roles`. */
  readonly claim: string
  /** Holds where the claim, or an item of it, is one of these. */
  readonly is: readonly (string | number | boolean)[]
}

/** Whether it holds for who asks. A function must answer at once, and the same for equal claims. */
export type PolicyConfig = ClaimPolicy | ((identity: Identity | undefined) => boolean)

/** Rules for who may ask what. The same rules can stand in SDL and in protos. */
export interface AccessConfig {
  /** By schema coordinate: `Query.orders`, `User.email`, or `Invoice` for all of a type. */
  readonly fields?: Readonly<Record<string, AccessRule>> | undefined
  /** The meanings of the names in `policies`. A policy without a meaning never holds. */
  readonly policies?: Readonly<Record<string, PolicyConfig>> | undefined
  /**
   * `field`: a refused field is null, with an error at its path, and the rest is answered. `operation`: an operation
   * with a refused field is not executed. Default `field`; mutations with a refused root field are never executed.
   */
  readonly refuse?: 'field' | 'operation' | undefined
}

/** Documents that clients name by an id. */
export interface PersistedDocumentsConfig {
  /**
   * Manifests of Apollo, Relay or graphql-codegen, or folders of `.graphql` files (the id is the file's name, or the
   * SHA-256 of its text), relative to the config; or http and https addresses of such manifests, which are read at the
   * start and at each reload.
   */
  readonly from: string | readonly string[]
  /**
   * `log`: other documents are answered too, and logged; `allow`: answered; `only`: refused with `PERSISTED_QUERY_ONLY`
   * before they are parsed. Default `allow`.
   */
  readonly mode?: 'log' | 'allow' | 'only' | undefined
}

/** The sections of the config that say who asks, and who may ask what. */
export interface AccessSections {
  /** Authentication: how the gateway knows who asks. Default: nobody is known. */
  readonly auth?: AuthConfig | undefined
  /** Rules for who may have what. Default: everyone may have everything. */
  readonly access?: AccessConfig | undefined
  /** Default: documents have no ids. */
  readonly persistedDocuments?: PersistedDocumentsConfig | undefined
  /**
   * Automatic persisted queries: a document is sent once, and named by its SHA-256 from then on. Shared with other gateways
   * where there is a Redis. Default false.
   */
  readonly apq?: boolean | undefined
}
