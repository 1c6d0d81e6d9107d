/** How one of the gateways of these annotations names and types what is in a proto. */
export interface Dialect {
  readonly product: string
  typeName(message: string, kind: 'Type' | 'Input' | 'Enum'): string
  /** What it calls the object that stands for JSON. */
  readonly struct: string
  /** Scalars that it has for those that are made here. */
  readonly scalars: Readonly<Record<string, string>>
  /**
   * Whether messages that contain themselves are interfaces, maps are lists of entries, fields have their defaults,
   * required lists are non-null, and the only argument of a request is required.
   */
  readonly isGo: boolean
}

/** Names of Go packages by the package of a proto. */
export function goDialect(packages: ReadonlyMap<string, string>): Dialect {
  const prefixOf = (message: string): readonly [string, string] => {
    const parts = message.split('.')
    for (let count = parts.length - 1; count >= 0; count--) {
      const name = packages.get(parts.slice(0, count).join('.'))
      if (name !== undefined) return [toCamel(name), parts.slice(count).join('_')]
    }
    return [toCamel(parts.slice(0, -1).join('.')), parts.at(-1) ?? '']
  }
  return {
    product: 'grpc-graphql-gateway (Go)',
    typeName(message, kind) {
      const [, known] = /^google\.protobuf\.(\w+)$/.exec(message) ?? []
      const [prefix, name] = known === undefined ? prefixOf(message) : [goPackageOf(known), known]
      return `${prefix}_${kind}_${name}`
    },
    struct: 'Structpb_Type_Struct',
    scalars: { Long: 'Int', UInt32: 'Int', Bytes: 'String', Upload: 'String' },
    isGo: true,
  }
}

export const RUST: Dialect = {
  product: 'grpc_graphql_gateway (Rust)',
  typeName: (message) => message.replaceAll('.', '_'),
  struct: 'google_protobuf_Struct',
  scalars: { Long: 'String', UInt32: 'Int', Bytes: 'String', Upload: 'Upload' },
  isGo: false,
}

/** `example.com/shop/v1;shoppb` is `shoppb`, `example.com/shop` is `shop`. */
export function goPackageName(goPackage: string): string {
  return goPackage.split(';')[1] ?? goPackage.split('/').at(-1) ?? goPackage
}

/** The package of a well-known message: `Timestamppb`, `Fieldmaskpb`. */
function goPackageOf(message: string): string {
  return `${message.charAt(0)}${message.slice(1).toLowerCase()}pb`
}

/** `user_v1` is `UserV1`. */
export function toCamel(name: string): string {
  return name
    .split(/[^A-Za-z\d]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('')
}
