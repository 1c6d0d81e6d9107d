import type { VariesBy } from '@vinyasa/invalidation'
import type { LoadedDescriptors } from '../descriptors/load.ts'
import type { Finding } from '../errors.ts'
import type { GrpcSourceOptions } from '../options.ts'
import { variesByOf } from '../runtime/metadata.ts'
import type { Annotations } from './annotations.ts'
import { createExposure } from './exposure.ts'
import { toMappingOptions } from './mapping-options.ts'
import { exposeMethods, joinedMethods, type ExposedMethod } from './methods.ts'
import { checkNamesInSettings } from './named-in-settings.ts'
import { createTypeNames, type TypeNames } from './names.ts'
import { createShapes, type Shapes } from './shapes.ts'
import { createTypesMeant } from './types-meant.ts'
import { findUsedTypes } from './used-types.ts'

export interface ContractOptions extends LoadedDescriptors {
  readonly annotations: Annotations
  readonly source: GrpcSourceOptions
}

/** What descriptors and options say together, before anything of GraphQL is made of it. */
export interface Contract {
  readonly mapping: ReturnType<typeof toMappingOptions>
  readonly shapes: Shapes
  readonly exposed: readonly ExposedMethod[]
  /** Methods that joins and entities call, whether they are exposed or not. */
  readonly joined: ReturnType<typeof joinedMethods>
  readonly names: TypeNames
  readonly typesMeant: ReturnType<typeof createTypesMeant>
  readonly variesBy: VariesBy | undefined
  /** Notes on what is called otherwise than its protos say, and on what is left out. Whoever reads on adds to them. */
  readonly notes: string[]
  /** Mistakes; whoever reads on adds to them. */
  readonly findings: Finding[]
}

export function readContract({ registry, files, isOwn, annotations, source }: ContractOptions): Contract {
  const { name, expose = 'annotated', methods: overrides = {}, typeNaming: naming = 'short' } = source
  const findings = checkNamesInSettings(source, registry)
  const notes: string[] = []
  const mapping = toMappingOptions(source)
  const shapes = createShapes(annotations, mapping, findings)
  const exposure = createExposure(expose, ({ parent }) => isOwn(parent))
  const exposed = exposeMethods({ files, annotations, exposure, overrides, findings, notes })
  const joined = joinedMethods(source, registry)
  const used = findUsedTypes([...exposed, ...joined], shapes)
  const names = createTypeNames({ overrides: mapping.typeNames, naming, used, shapes, findings })
  for (const { typeName, name: given, short, rival } of names.renamed)
    notes.push(`${typeName} is called "${given}", because ${rival} already has the name "${short}"`)
  const typesMeant = createTypesMeant(used.outputs, names)
  return {
    mapping,
    shapes,
    exposed,
    joined,
    names,
    typesMeant,
    variesBy: variesByOf(name, source),
    notes,
    findings,
  }
}

/** Files that define no methods are nobody's mistake; where methods were chosen, choosing none is, unless joins call some. */
export function noteNoMethods(
  { exposed, joined, notes, findings }: Contract,
  { expose }: GrpcSourceOptions,
): void {
  if (exposed.length > 0 || joined.length > 0) return
  const message = 'no method is exposed'
  const mend =
    'annotate a method with (graphql.schema), set methods["package.Service.Method"].schema, or set expose: "all"'
  if (expose === 'all')
    notes.push(
      `${message}, because the given proto files define no methods, or the setting methods excludes all of them`,
    )
  else findings.push({ message: `${message}; ${mend}`, path: ['expose'] })
}
